// SPDX-License-Identifier: GPL-3.0-or-later
// The model's prediction after each layer (probes logit_lens and jacobian_lens): tokens by layer
// and rank, coloured by probability, and the rank of the answer's first token.
#pragma once

#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"
#include "gui/panels/panel.h"
#include "gui/plots/tokens/token_grid_plot.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace midscope {

class LensBar;

class LogitLensPanel : public Panel {
  Q_OBJECT

 public:
  explicit LogitLensPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "logit_lens"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  TokenGridPlot* plot() const { return plot_; }
  LensBar* bar() const { return bar_; }

 private:
  void Draw() override;
  bool CanSwitchOn() const;
  // The record of the chosen lens; null if the side has none.
  const Record* LensOf(Side side) const;
  // The chosen sides that have a record of the chosen lens.
  std::vector<Side> ShownSides() const;

  TokenGridPlot* plot_;
  QComboBox* lens_;  // shown with a model, or if a file has both
  QComboBox* side_;
  QPushButton* switch_on_;  // switches the probe on; hidden if it runs or is not available
  QLabel* note_;
  LensBar* bar_;               // the file of the Jacobian lens; shown with that of a model
  bool had_jacobian_ = false;  // whether there was a Jacobian lens when the panel was last drawn
};

}  // namespace midscope

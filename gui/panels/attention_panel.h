// SPDX-License-Identifier: GPL-3.0-or-later
// The last query's attention of the chosen head, as a plot and as coloured text.
#pragma once

#include "gui/base/view_types.h"
#include "gui/panels/panel.h"

class QCheckBox;
class QComboBox;
class QSpinBox;
class QTabWidget;

namespace midscope {

class AttentionPlot;
class TokenView;

class AttentionPanel : public Panel {
  Q_OBJECT

 public:
  explicit AttentionPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "head"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  // The drawn head: the selected one, or the nearest one of the model.
  HeadId head() const { return head_; }
  AttentionPlot* plot() const { return plot_; }
  TokenView* tokens() const { return tokens_; }

 private:
  void Draw();
  void RefreshTokens();
  void ShowHead();

  HeadId head_;
  QTabWidget* tabs_;
  AttentionPlot* plot_;
  TokenView* tokens_;
  QSpinBox* layer_box_;
  QSpinBox* head_box_;
  QCheckBox* logarithmic_;
  QComboBox* token_side_;
};

}  // namespace midscope

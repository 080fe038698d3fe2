// SPDX-License-Identifier: GPL-3.0-or-later
// Contributions to the difference between the logit of the answer and that of the best wrong piece
// (probe answer_attribution): the largest heads and MLPs as bars, all heads as a map, tokens as
// coloured text.
#pragma once

#include "core/base/record.h"
#include "gui/panels/panel.h"
#include "gui/plots/bar_plot.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QTabWidget;

namespace midscope {

class RecordPlot;
class TokenView;

class AttributionPanel : public Panel {
  Q_OBJECT

 public:
  explicit AttributionPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  BarPlot* bars() const { return bars_; }
  RecordPlot* map() const { return map_; }
  TokenView* tokens() const { return tokens_; }

 private:
  void Draw() override;
  bool CanSwitchOn() const;
  const Record* ShownRecord() const;
  void ColourTokens(const Record* record);

  QTabWidget* tabs_;
  BarPlot* bars_;
  RecordPlot* map_;
  TokenView* tokens_;
  QComboBox* side_;
  QCheckBox* chosen_head_;
  QPushButton* switch_on_;  // switches the probe on; hidden if it runs or is not available
  QLabel* note_;
};

}  // namespace midscope

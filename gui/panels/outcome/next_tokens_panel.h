// SPDX-License-Identifier: GPL-3.0-or-later
// The most likely next tokens under A and B, side by side.
#pragma once

#include <vector>

#include "core/base/record.h"
#include "gui/panels/panel.h"

class QLabel;
class QTableView;

namespace midscope {

class BarPlot;
class NextTokensTable;

class NextTokensPanel : public Panel {
  Q_OBJECT

 public:
  explicit NextTokensPanel(const PanelContext& context);

  // Includes generated text, which the answer strip shows and no panel does.
  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  NextTokensTable* table() const { return table_; }

 private:
  void Draw() override;

  NextTokensTable* table_;
  QTableView* view_;
  QLabel* note_;
  BarPlot* bars_a_;  // for export only
  BarPlot* bars_b_;
};

}  // namespace midscope

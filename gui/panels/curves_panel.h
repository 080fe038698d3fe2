// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes over a parameter (record outcome_curves, which midscope curves writes): a line a curve,
// with intervals.
#pragma once

#include "core/base/record.h"
#include "gui/panels/panel.h"

class QComboBox;

namespace midscope {

class LinesPlot;

class CurvesPanel : public Panel {
  Q_OBJECT

 public:
  explicit CurvesPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  LinesPlot* plot() const { return plot_; }

 private:
  void Draw();
  const Record* ShownRecord() const;

  LinesPlot* plot_;
  QComboBox* what_;  // mean, gap or worst place, by a measure
};

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes over a parameter (record outcome_curves, which midscope curves writes): a line per
// curve, with intervals; of one curve a map of parameter by place.
#pragma once

#include "core/base/record.h"
#include "gui/panels/panel.h"

class QComboBox;
class QStackedWidget;

namespace midscope {

class LinesPlot;
class RecordPlot;

class CurvesPanel : public Panel {
  Q_OBJECT

 public:
  explicit CurvesPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  LinesPlot* plot() const { return plot_; }
  RecordPlot* map() const { return map_; }

 private:
  void Draw();
  void DrawMap(const Record& record, const std::string& array);
  const Record* ShownRecord() const;

  LinesPlot* plot_;
  RecordPlot* map_;
  QStackedWidget* pages_;  // plot_ or map_
  QComboBox* what_;        // mean, gap or worst place, by a measure, and maps
  QComboBox* curve_;       // of a map
};

}  // namespace midscope

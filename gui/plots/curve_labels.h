// SPDX-License-Identifier: GPL-3.0-or-later
// Names the lines of a legend at their right ends, in their colours, instead of in the legend.
// Labels never overlap. If the legend has more than four lines, or the labels do not fit, the
// legend is drawn.
#pragma once

#include <vector>

#include "gui/plots/custom_plot.h"

namespace midscope {

class CurveLabels {
 public:
  // `row`: of the legend in the layout of the plot.
  CurveLabels(QCustomPlot* plot, int row);

  // Chooses between labels and legend, and reserves the width of the labels; before the layout.
  void Fit();
  // Puts the labels beside the ends of their lines; after the layout.
  void Place();
  // Puts the legend into its row of the layout, or takes it out of it; Fit does so as needed.
  void ShowLegend(bool shown);
  // The labels that are drawn, in the order of the legend.
  std::vector<const QCPItemText*> shown() const;

 private:
  struct Label {
    QCPItemText* text;
    const QCPGraph* graph;  // valid between Fit and Place
    double height = 0;
    double y = 0;  // of the middle, in pixels
  };
  std::vector<const QCPGraph*> Curves() const;

  QCustomPlot* plot_;
  int row_;
  std::vector<QCPItemText*> items_;
  std::vector<Label> labels_;
};

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// Leaves out the tick labels of an axis that would touch the label before them, for pictures that
// are smaller than the screen.
#pragma once

#include <vector>

#include "gui/plots/custom_plot.h"

namespace midscope {

// While it exists, the tick labels of the plot's axes do not touch each other.
class ThinLabels {
 public:
  explicit ThinLabels(QCustomPlot& plot);
  ~ThinLabels();
  ThinLabels(const ThinLabels&) = delete;
  ThinLabels& operator=(const ThinLabels&) = delete;

 private:
  struct Changed {
    QCPAxis* axis;
    QSharedPointer<QCPAxisTicker> ticker;
  };
  std::vector<Changed> changed_;
};

}  // namespace midscope

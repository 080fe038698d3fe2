// SPDX-License-Identifier: GPL-3.0-or-later
// Leaves out the tick labels of an axis that would touch the label before them, and elides names of
// the legend that are wider than the plot.
#pragma once

#include <QPointer>
#include <vector>

#include "gui/plots/custom_plot.h"

namespace midscope {

// While it exists, the tick labels of the plot's axes do not touch each other, and replots use the
// sizes of the last layout. The number of ticks that is set meanwhile stays.
class ThinLabels {
 public:
  explicit ThinLabels(QCustomPlot& plot);
  ~ThinLabels();
  ThinLabels(const ThinLabels&) = delete;
  ThinLabels& operator=(const ThinLabels&) = delete;

 private:
  struct Changed {
    QPointer<QCPAxis> axis;
    QSharedPointer<QCPAxisTicker> ticker;
  };
  struct Name {
    QPointer<QCPAbstractPlottable> line;
    QString full;
  };
  void ElideNames(const QCustomPlot& plot);

  std::vector<Changed> changed_;
  std::vector<Name> names_;  // those that are elided
};

}  // namespace midscope

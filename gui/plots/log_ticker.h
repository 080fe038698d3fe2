// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks of a logarithmic axis. Over several decades: powers of ten. Over less than about one
// decade, which may hold no power of ten: round numbers, each with its own label.
#pragma once

#include "gui/plots/custom_plot.h"

namespace midscope {

class LogTicker : public QCPAxisTickerLog {
 public:
  // Makes the axis logarithmic with such ticks.
  static void Use(QCPAxis* axis);

 protected:
  double getTickStep(const QCPRange& range) override;
  QVector<double> createTickVector(double step, const QCPRange& range) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
  int getSubTickCount(double step) override;

 private:
  bool narrow_ = false;  // less than about a decade is shown
};

}  // namespace midscope

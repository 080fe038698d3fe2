// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a plot's axes and lines, and the ticks of logarithmic axes.
#pragma once

#include <QPointer>
#include <vector>

#include "gui/plots/custom_plot.h"

namespace midscope {

// While it exists, the tick labels of the plot's axes do not touch each other, names of the legend
// that are wider than the plot are elided, and replots use the sizes of the last layout. The number
// of ticks that is set meanwhile stays.
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
  std::vector<Name> names_;  // the elided names
};

// Ticks of a logarithmic axis. Over several decades: powers of ten. Over less than about one
// decade, which may hold no power of ten: round numbers, each with its own label.

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

// Names the lines of a legend at their right ends, in their colours, instead of in the legend.
// Labels never overlap. If the legend has more than four lines, or the labels do not fit, the
// legend is drawn.

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

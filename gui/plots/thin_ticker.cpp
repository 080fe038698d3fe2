// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/thin_ticker.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace midscope {
namespace {

constexpr double kGap = 4;  // pixels between two labels
constexpr double kHalfTurn = 180;
constexpr int kIconAndMargins = 44;  // pixels of an item of the legend beside its name

class ThinTicker : public QCPAxisTicker {
 public:
  ThinTicker(QSharedPointer<QCPAxisTicker> own, QCPAxis* axis) : own_(std::move(own)), axis_(axis) {
    setTickCount(own_->tickCount());
  }

  void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision,
                QVector<double>& ticks, QVector<double>* sub_ticks,
                QVector<QString>* labels) override {
    own_->generate(range, locale, format, precision, ticks, sub_ticks, labels);
    if (labels) Thin(ticks, *labels);
  }

 private:
  // The distance in pixels that two neighbouring labels need along the axis.
  double Needed(const QString& label, const QString& next) const {
    const QFontMetricsF metrics(axis_->tickLabelFont());
    const double turn = std::abs(axis_->tickLabelRotation()) * std::numbers::pi / kHalfTurn;
    if (axis_->orientation() == Qt::Vertical) return metrics.height();
    if (turn == 0) return (metrics.horizontalAdvance(label) + metrics.horizontalAdvance(next)) / 2;
    return metrics.height() / std::sin(turn);  // parallel lines of text
  }

  // Keeps evenly spaced labels: every one, every second, ...
  void Thin(const QVector<double>& ticks, QVector<QString>& labels) const {
    const auto fits = [&](qsizetype step) {
      for (qsizetype i = step; i < std::min(ticks.size(), labels.size()); i += step) {
        const double apart =
            std::abs(axis_->coordToPixel(ticks[i]) - axis_->coordToPixel(ticks[i - step]));
        if (apart < Needed(labels[i - step], labels[i]) + kGap) return false;
      }
      return true;
    };
    qsizetype step = 1;
    while (step < labels.size() && !fits(step)) ++step;
    for (qsizetype i = 0; i < labels.size(); ++i) {
      if (i % step != 0) labels[i].clear();
    }
  }

  QSharedPointer<QCPAxisTicker> own_;
  QCPAxis* axis_;
};

}  // namespace

ThinLabels::ThinLabels(QCustomPlot& plot) {
  const auto change = [this](QCPAxis* axis) {
    if (!axis->visible() || !axis->tickLabels()) return;
    changed_.push_back({axis, axis->ticker()});
    axis->setTicker(QSharedPointer<ThinTicker>::create(axis->ticker(), axis));
  };
  for (const QCPAxisRect* rect : plot.axisRects()) {
    for (QCPAxis* axis : rect->axes()) change(axis);
  }
  for (int i = 0; i < plot.plotLayout()->elementCount(); ++i) {
    auto* scale = qobject_cast<QCPColorScale*>(plot.plotLayout()->elementAt(i));
    if (scale) change(scale->axis());
  }
  if (plot.legend && plot.legend->layout()) ElideNames(plot);
}

// In the middle, because settings often differ at their ends.
void ThinLabels::ElideNames(const QCustomPlot& plot) {
  const int columns = std::max(plot.legend->wrap(), 1);
  const int width = plot.viewport().width() / columns - kIconAndMargins;
  const QFontMetrics metrics(plot.legend->font());
  for (int i = 0; i < plot.legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(plot.legend->item(i));
    const QString name = item ? item->plottable()->name() : QString();
    if (metrics.horizontalAdvance(name) <= width) continue;
    names_.push_back({item->plottable(), name});
    item->plottable()->setName(metrics.elidedText(name, Qt::ElideMiddle, width));
  }
}

ThinLabels::~ThinLabels() {
  for (const Name& name : names_) {
    if (name.line) name.line->setName(name.full);
  }
  for (const Changed& one : changed_) {
    if (!one.axis) continue;
    one.ticker->setTickCount(one.axis->ticker()->tickCount());
    one.axis->setTicker(one.ticker);
  }
}

}  // namespace midscope

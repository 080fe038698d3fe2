// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/bar_plot.h"

#include <algorithm>
#include <cmath>

#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr double kWidth = 0.8;
// With this number of bars or more, their names are rotated.
constexpr qsizetype kManyNames = 8;
constexpr int kNameGap = 5;  // pixels between two names in a picture

}  // namespace

BarPlot::BarPlot(QWidget* parent, const QString& file_stem) : Plot(QString(), file_stem, parent) {
  more_ = new QCPBars(xAxis, yAxis);
  less_ = new QCPBars(xAxis, yAxis);
  for (QCPBars* bars : {more_, less_}) {
    bars->setWidth(kWidth);
    bars->setPen(Qt::NoPen);
  }
  RestyleData();
  Show({}, QString());
}

void BarPlot::Show(const QVector<Bar>& bars, const QString& value_name) {
  shown_ = bars;
  auto ticks = QSharedPointer<QCPAxisTickerText>::create();
  more_->data()->clear();
  less_->data()->clear();
  for (qsizetype i = 0; i < bars.size(); ++i) {
    const auto place = static_cast<double>(i);
    ticks->addTick(place, bars[i].name);
    (bars[i].value < 0 ? less_ : more_)->addData(place, bars[i].value);
  }
  xAxis->setTicker(ticks);
  xAxis->setTickLabelRotation(bars.size() >= kManyNames ? 60 : 0);
  yAxis->setLabel(value_name);
  SetEmptyMessage(bars.isEmpty() ? tr("Nothing to draw") : QString());
  ResetView();
  QueueReplot();
}

void BarPlot::ArrangePicture() {
  const QFontMetrics metrics(xAxis->tickLabelFont());
  int widest = 0;
  for (const Bar& bar : shown_) widest = std::max(widest, metrics.horizontalAdvance(bar.name));
  const double pixels = axisRect()->width();
  if (pixels >= (widest + kNameGap) * static_cast<double>(shown_.size())) {
    xAxis->setTickLabelRotation(0);
    return;
  }
  constexpr double kUpright = 90;
  xAxis->setTickLabelRotation(kUpright);
  const double most = std::max(1.0, std::floor(pixels / (metrics.height() + kNameGap)));
  if (xAxis->range().size() > most) xAxis->setRange(-0.6, most - 0.4);
}

void BarPlot::RestyleData() {
  QCPColorGradient gradient = DifferenceGradient();
  more_->setBrush(QColor(gradient.color(0.95, QCPRange(0, 1))));
  less_->setBrush(QColor(gradient.color(0.05, QCPRange(0, 1))));
}

void BarPlot::ResetView() {
  double low = 0;
  double high = 0;
  for (const Bar& bar : shown_) {
    low = std::min(low, bar.value);
    high = std::max(high, bar.value);
  }
  if (low == high) high = 1;
  xAxis->setRange(-0.6, static_cast<double>(std::max<qsizetype>(shown_.size(), 1)) - 0.4);
  yAxis->setRange(low, high);
  yAxis->scaleRange(1.08);
}

qsizetype BarPlot::BarAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return -1;
  const auto bar = static_cast<qsizetype>(std::llround(xAxis->pixelToCoord(position.x())));
  return bar < shown_.size() ? std::max<qsizetype>(bar, -1) : -1;
}

void BarPlot::ClickAt(const QPointF& position) {
  const qsizetype bar = BarAt(position);
  if (bar >= 0) Q_EMIT BarChosen(bar);
}

QString BarPlot::TooltipAt(const QPointF& position) const {
  const qsizetype place = BarAt(position);
  if (place < 0) return {};
  return QStringLiteral("%1\n%2 %3")
      .arg(shown_[place].name, FullLabel(*yAxis))
      .arg(shown_[place].value, 0, 'g', 5);
}

}  // namespace midscope

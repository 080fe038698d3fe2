// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/lines_plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr double kNearPixels = 20;
constexpr int kMostNames = 12;  // if there are more lines, only the first and the last are named

}  // namespace

LinesPlot::LinesPlot(QWidget* parent, const QString& file_stem)
    : Plot(QString(), file_stem, parent) {
  UseLegendRow();
  Show(nullptr, {});
}

void LinesPlot::Show(const Record* record, const View& view) {
  view_ = view;
  lines_ = 0;
  clearPlottables();
  const Array* array = record ? record->FindArray(view.array) : nullptr;
  const bool drawn =
      array && array->axes.size() == 2 && HasArray(*record, array->name, array->axes);
  SetEmptyMessage(drawn ? QString() : tr("Nothing to draw"));
  SetTitle(!drawn                       ? QString()
           : array->description.empty() ? ArrayWords(array->name)
                                        : QString::fromStdString(array->description));
  UseLogarithm(view.logarithmic);
  if (drawn) Draw(*record, *array);
  ResetView();
  QueueReplot();
}

void LinesPlot::Draw(const Record& record, const Array& array) {
  const Axis& along = *record.FindAxis(array.axes[1]);
  xAxis->setLabel(NameWithUnit(along.name, along.unit));
  yAxis->setLabel(NameWithUnit(array.name, array.unit));
  const QVector<double> keys = AxisValues(record, array.axes[1]);
  along_labels_ = along.labels.empty() ? QStringList() : AxisLabels(record, array.axes[1]);
  const QStringList names = AxisLabels(record, array.axes[0]);
  lines_ = static_cast<int>(AxisSize(record, array.axes[0]));
  for (int line = 0; line < lines_; ++line) {
    QCPGraph* graph = addGraph();
    // A bare number is meaningless in a legend; the name becomes, for example, "sample 3".
    graph->setName(record.FindAxis(array.axes[0])->labels.empty()
                       ? QString::fromStdString(array.axes[0]) + QLatin1Char(' ') +
                             names.value(line)
                       : names.value(line));
    if (lines_ > kMostNames && line > 0 && line < lines_ - 1) graph->removeFromLegend();
    graph->setAdaptiveSampling(true);
    graph->setData(keys, LastAxisRow(record, array.name, {line}), true);
    MarkSinglePoint(graph);
    DrawBounds(record, array, line, keys);
  }
  if (lines_ > kMostNames) {
    const QString axis = QString::fromStdString(array.axes[0]);
    SetTitle(title() + tr(" — %1").arg(ColorOrderText(axis)));
  }
  DrawMarks();
  RestyleData();
}

void LinesPlot::DrawBounds(const Record& record, const Array& array, int line,
                           const QVector<double>& keys) {
  const std::string low = array.name + "_low";
  const std::string high = array.name + "_high";
  if (!HasArray(record, low, array.axes) || !HasArray(record, high, array.axes)) return;
  graph(line)->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, 5));
  auto* bars = new QCPErrorBars(xAxis, yAxis);
  bars->removeFromLegend();
  bars->setDataPlottable(graph(line));
  const QVector<double> values = LastAxisRow(record, array.name, {line});
  const QVector<double> lows = LastAxisRow(record, low, {line});
  const QVector<double> highs = LastAxisRow(record, high, {line});
  for (qsizetype i = 0; i < keys.size(); ++i)
    bars->addData(values[i] - lows[i], highs[i] - values[i]);
}

void LinesPlot::DrawMarks() {
  if (lines_ == 0 || graph(0)->data()->isEmpty()) return;
  const double first = graph(0)->data()->constBegin()->key;
  const double last = (graph(0)->data()->constEnd() - 1)->key;
  for (const Mark& mark : view_.marks) {
    if (mark.value <= 0) continue;
    QCPGraph* line = addGraph();
    line->setName(mark.name);
    line->setData({first, last}, {mark.value, mark.value}, true);
  }
}

void LinesPlot::RestyleData() {
  QCPColorGradient gradient = ViridisGradient();
  // The light end of the gradient is invisible on white, and the dark end on black.
  const int coloured = lines_ - view_.dashed;
  const double unused = 0.25 * coloured;
  const double first = palette().color(QPalette::Base).lightness() < 128 ? unused : 0;
  const QCPRange range(0, std::max(1.0, coloured + unused - 1));
  for (int line = 0; line < coloured; ++line)
    graph(line)->setPen(LinePen(gradient.color(first + line, range), 1.4));
  for (int line = coloured; line < lines_; ++line) {
    const QColor color = gradient.color(first + (line - coloured) % std::max(1, coloured), range);
    graph(line)->setPen(LinePen(color, 1, Qt::DashLine));
  }
  if (view_.fit >= 0 && view_.fit < lines_) {
    constexpr double kMiddle = 0.5;  // of the gradient; visible on white and on black
    const QColor others = gradient.color(kMiddle, QCPRange(0, 1));
    for (int line = 0; line < lines_; ++line) graph(line)->setPen(LinePen(others, 1));
    graph(view_.fit)->setPen(LinePen(palette().color(QPalette::Text), 2.4));
  }
  for (int i = 0; i < plottableCount(); ++i) {
    auto* bars = qobject_cast<QCPErrorBars*>(plottable(i));
    if (bars) bars->setPen(QPen(bars->dataPlottable()->pen().color(), 1));
  }
  const Qt::PenStyle styles[] = {Qt::DashLine, Qt::DotLine};
  for (int mark = lines_; mark < graphCount(); ++mark) {
    const Qt::PenStyle style = styles[(mark - lines_) % std::size(styles)];
    graph(mark)->setPen(QPen(palette().color(QPalette::Text), 1.2, style));
  }
}

void LinesPlot::UseLogarithm(bool used) {
  if (used) {
    LogTicker::Use(yAxis);
    return;
  }
  yAxis->setScaleType(QCPAxis::stLinear);
  yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
  yAxis->setNumberFormat(QStringLiteral("g"));
  yAxis->setNumberPrecision(6);
}

void LinesPlot::ResetView() {
  if (graphCount() == 0) return;
  rescaleAxes();
  yAxis->scaleRange(1.08);
  // Widens the range so that marks and bars at the ends are not cut off.
  if (plottableCount() > graphCount()) xAxis->scaleRange(1.04);
}

QString LinesPlot::TooltipAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return {};
  const QCPGraph* nearest = nullptr;
  QCPGraphDataContainer::const_iterator point;
  double nearest_pixels = kNearPixels;
  for (int line = 0; line < lines_; ++line) {
    const auto found = graph(line)->data()->findBegin(xAxis->pixelToCoord(position.x()), true);
    if (found == graph(line)->data()->constEnd()) continue;
    const double pixels = std::abs(yAxis->coordToPixel(found->value) - position.y());
    if (pixels >= nearest_pixels) continue;
    nearest_pixels = pixels;
    nearest = graph(line);
    point = found;
  }
  if (!nearest) return {};
  const auto index = static_cast<qsizetype>(point - nearest->data()->constBegin());
  return QStringLiteral("%1\n%2 %3\n%4 %5")
      .arg(nearest->name(), xAxis->label())
      .arg(along_labels_.value(index, QString::number(point->key, 'g', 10)))
      .arg(FullLabel(*yAxis))
      .arg(point->value, 0, 'g', 6);
}

}  // namespace midscope

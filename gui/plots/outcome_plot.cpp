// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/outcome_plot.h"

#include <QKeyEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr double kDodge = 0.008;  // offset between two means at one place, as a share of the axis
// With fewer samples, the interval itself is uncertain: it is drawn dotted.
constexpr int64_t kFewSamples = 6;
// Per line; more marks would merge into a solid band and draw slowly.
constexpr qsizetype kMostMarks = 1000;
// With more lines, only the first is highlighted, because hundreds of names and intervals would
// cover the picture.
constexpr size_t kMostLines = 24;

// The lines in the order of drawing, from back to front.
std::vector<OutcomePlot::Line> Drawn(const std::vector<OutcomePlot::Line>& lines) {
  if (lines.size() <= kMostLines) return lines;
  std::vector<OutcomePlot::Line> drawn(lines.begin() + 1, lines.end());
  for (OutcomePlot::Line& line : drawn) {
    line.faint = true;
    line.mean = false;
    line.in_legend = false;
    line.color = QColor(128, 128, 128);
    line.series.low.clear();
    line.series.high.clear();
    line.noise = 0;
  }
  drawn.front().name = OutcomePlot::tr("%1 other settings").arg(drawn.size());
  drawn.front().in_legend = true;
  drawn.push_back(lines.front());
  return drawn;
}

}  // namespace

OutcomePlot::OutcomePlot(QWidget* parent)
    : Plot(tr("Outcome by gold place"), QStringLiteral("outcome"), parent) {
  UseLegendRow(2);
  UseCurveLabels();
  xAxis->setLabel(tr("place of the gold passage"));
  current_ = new QCPItemStraightLine(this);
  current_->setVisible(false);
  HideInPictures(current_);
  for (QCPItemPosition* point : {current_->point1, current_->point2}) {
    point->setTypeX(QCPItemPosition::ptPlotCoords);
    point->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  RestyleData();
  SetEmptyMessage(tr("No outcome yet"));
}

// The marker for the setting with that colour, so that settings also differ in grey-scale print.
QCPScatterStyle::ScatterShape OutcomePlot::ShapeOf(const QColor& color) {
  static const QCPScatterStyle::ScatterShape shapes[] = {
      QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare, QCPScatterStyle::ssTriangle,
      QCPScatterStyle::ssTriangleInverted};
  for (size_t i = 0; i < std::size(shapes); ++i) {
    if (SettingColor(i).rgb() == color.rgb()) return shapes[i];
  }
  return QCPScatterStyle::ssCircle;
}

QColor OutcomePlot::SettingColor(size_t index) {
  // The colours of A and B, then Paul Tol's bright scheme, which is distinguishable with colour
  // blindness.
  static const QColor others[] = {QColor(34, 136, 51),   QColor(170, 51, 119),
                                  QColor(102, 204, 238), QColor(204, 187, 68),
                                  QColor(238, 102, 119), QColor(120, 120, 120)};
  if (index == 0) return SideColor(Side::kA);
  if (index == 1) return SideColor(Side::kB);
  return others[(index - 2) % std::size(others)];
}

void OutcomePlot::StyleGraph(const Line& line, QCPGraph* graph) const {
  const double width = line.mean ? 2.2 : line.reference ? 1.6 : 1.2;
  graph->setPen(line.older ? OlderPen(width)
                           : QPen(line.color, width, line.mean ? Qt::SolidLine : Qt::DashLine));
  graph->setScatterStyle(
      QCPScatterStyle(line.reference ? QCPScatterStyle::ssDiamond : ShapeOf(line.color),
                      line.older ? OlderPen(1.4) : QPen(line.color, 1.4),
                      line.mean ? QBrush(line.color) : QBrush(palette().color(QPalette::Base)), 7));
}

void OutcomePlot::AddLine(const Line& line, double shift) {
  QCPGraph* graph = addGraph();
  graph->setName(line.name);
  if (!line.in_legend) graph->removeFromLegend();
  if (line.faint) {
    graph->setPen(QPen(line.color, 0.5));
  } else {
    StyleGraph(line, graph);
  }
  const qsizetype count = std::min(line.series.places.size(), line.series.values.size());
  QVector<double> places = line.series.places.first(count);
  for (double& place : places) place += shift;
  SetShownOffset(graph, shift);
  if (count > kMostMarks) graph->setScatterStyle(QCPScatterStyle::ssNone);
  graph->setData(places, line.series.values.first(count), true);
  MarkNotes(line);
  if (line.series.low.size() < count || line.series.high.size() < count) return;
  auto* bars = new QCPErrorBars(xAxis, yAxis);
  bars->removeFromLegend();
  bars->setDataPlottable(graph);
  const bool few = line.series.samples > 0 && line.series.samples < kFewSamples;
  bars->setPen(QPen(line.color, 1, few ? Qt::DotLine : Qt::SolidLine));
  if (few) bars->setWhiskerWidth(0);
  bars->setSymbolGap(4);
  QVector<double> below;
  QVector<double> above;
  for (qsizetype i = 0; i < count; ++i) {
    below.append(std::max(0.0, line.series.values[i] - line.series.low[i]));
    above.append(std::max(0.0, line.series.high[i] - line.series.values[i]));
  }
  bars->setData(below, above);
}

void OutcomePlot::AddBand(const Line& line) {
  const qsizetype count = std::min(line.series.places.size(), line.series.values.size());
  QVector<double> low(line.around_zero ? QVector<double>(count, 0.0)
                                       : line.series.values.first(count));
  QVector<double> high = low;
  for (double& value : low) value -= line.noise;
  for (double& value : high) value += line.noise;
  QCPGraph* ends[2] = {};
  for (QCPGraph*& end : ends) {
    end = addGraph();
    end->removeFromLegend();
    end->setPen(Qt::NoPen);
    const bool lower = &end == &ends[0];
    end->setName(lower ? tr("rounding noise, low") : tr("rounding noise, high"));
    end->setData(line.series.places.first(count), lower ? low : high, true);
  }
  ends[1]->setBrush(QColor(128, 128, 128, 70));
  ends[1]->setChannelFillGraph(ends[0]);
}

void OutcomePlot::MarkNotes(const Line& line) {
  QVector<double> places;
  QVector<double> values;
  for (qsizetype i = 0; i < line.notes.size(); ++i) {
    if (line.notes[i].isEmpty()) continue;
    places.append(line.series.places.value(i));
    values.append(line.series.values.value(i));
  }
  if (places.isEmpty()) return;
  QCPGraph* marks = addGraph();
  marks->removeFromLegend();
  marks->setLineStyle(QCPGraph::lsNone);
  marks->setScatterStyle(
      QCPScatterStyle(QCPScatterStyle::ssCross, QPen(line.color, 2), Qt::NoBrush, 11));
  marks->setData(places, values, true);
}

QVector<double> OutcomePlot::Places() const {
  const auto own =
      std::find_if(lines_.begin(), lines_.end(), [](const Line& line) { return !line.reference; });
  return own == lines_.end() ? QVector<double>() : own->series.places;
}

void OutcomePlot::SetPlaceNames(std::map<double, QString> names) {
  if (names == place_names_) return;
  place_names_ = std::move(names);
  // Redraws the lines with the new names.
  const std::vector<Line> lines = std::exchange(lines_, {});
  if (!lines.empty()) Show(lines, measure_);
}

bool OutcomePlot::NamesAreDepths() const {
  const auto is_depth = [](const auto& name) {
    return name.second == QStringLiteral("%1 %").arg(name.first - 1);
  };
  return !place_names_.empty() && std::all_of(place_names_.begin(), place_names_.end(), is_depth);
}

QString OutcomePlot::NameOfPlace(double place) const {
  const auto found = place_names_.find(place);
  return found == place_names_.end() ? QString::number(place, 'g', 6) : found->second;
}

void OutcomePlot::Show(const std::vector<Line>& lines, Measure measure) {
  if (!lines.empty() && lines == lines_ && measure == measure_) return;
  const QVector<double> places_before = Places();
  if (measure != measure_) ReleaseAlongY();  // the range belongs to the other scale
  lines_ = lines;
  measure_ = measure;
  // The lines belong to other prompts. Between two requests there may be no lines, which does not
  // count as a change.
  if (!places_before.isEmpty() && !lines.empty() && places_before != Places()) ReleaseView();
  clearPlottables();
  NameMeasure();
  const bool references =
      std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.same_share; });
  const QString ranks = tr("place of the gold passage");
  const QString what = place_names_.empty() ? ranks
                       : NamesAreDepths()   ? tr("depth of the gold passage")
                                            : tr("place of the gold passage, in shares of the way");
  xAxis->setLabel(references ? tr("%1 (published: same share)").arg(what) : what);
  // The CSV contains places, not the names that the ticks show.
  SetCsvName(xAxis, references ? tr("%1 (published: same share)").arg(ranks) : ranks);
  const QVector<double> places = Places();
  // Means are drawn beside their place, so that their intervals do not overlap.
  const std::vector<Line> drawn = Drawn(lines_);
  const auto means =
      std::count_if(drawn.begin(), drawn.end(), [](const Line& line) { return line.mean; });
  const double step = places.isEmpty() ? 0 : kDodge * (places.back() - places.front());
  double shift = -step * static_cast<double>(means - 1) / 2;
  for (const Line& line : drawn) {
    if (line.noise > 0 && !line.hidden) AddBand(line);
  }
  for (const Line& line : drawn) {
    if (!line.hidden) AddLine(line, line.mean ? shift : 0);
    if (line.mean) shift += step;
  }
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  for (const double place : places) ticker->addTick(place, NameOfPlace(place));
  if (!places.isEmpty() && places.size() <= 25) {
    xAxis->setTicker(ticker);
  } else {
    xAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
  }
  xAxis->setSubTicks(false);
  SetEmptyMessage(lines_.empty() ? tr("No outcome yet") : QString());
  FitView();
  QueueReplot();
}

void OutcomePlot::NameMeasure() {
  switch (measure_) {
    case Measure::kNll:
      SetTitle(tr("Outcome by gold place — lower is better"));
      yAxis->setLabel(tr("nats: −log p(answer)"));
      break;
    case Measure::kAccuracy:
      SetTitle(tr("Outcome by gold place — higher is better"));
      yAxis->setLabel(tr("accuracy (share of samples)"));
      break;
    case Measure::kDifference:
      SetTitle(tr("B − A by gold place — below 0: B is better"));
      yAxis->setLabel(tr("nats: B − A of −log p(answer)"));
      break;
  }
}

void OutcomePlot::SetCurrentPlace(int64_t place) {
  if (current_->visible() == (place > 0) && current_->point1->key() == static_cast<double>(place))
    return;
  current_->setVisible(place > 0);
  current_->point1->setCoords(static_cast<double>(place), 0);
  current_->point2->setCoords(static_cast<double>(place), 1);
  QueueReplot();
}

// The first drawn line at the current place.
std::optional<QPointF> OutcomePlot::CurrentPoint() const {
  const auto drawn =
      std::find_if(lines_.begin(), lines_.end(), [](const Line& line) { return !line.hidden; });
  if (!current_->visible() || drawn == lines_.end()) return std::nullopt;
  const OutcomeSeries& series = drawn->series;
  const double place = current_->point1->key();
  const qsizetype index = series.places.indexOf(place);
  if (index < 0 || index >= series.values.size()) return std::nullopt;
  return QPointF(xAxis->coordToPixel(place), yAxis->coordToPixel(series.values[index]));
}

void OutcomePlot::ResetView() {
  double first = 1;
  double last = 1;
  double lowest = 0;
  double highest = 0;
  bool any = false;
  for (const Line& line : lines_) {
    for (const double place : line.series.places) {
      first = any ? std::min(first, place) : place;
      last = any ? std::max(last, place) : place;
      any = true;
    }
    for (const double value : line.series.values + line.series.high) {
      if (!std::isnan(value)) highest = std::max(highest, value);
    }
    for (const double value : line.series.values + line.series.low) {
      if (!std::isnan(value)) lowest = std::min(lowest, value);
    }
  }
  const double margin = std::max(0.5, 0.06 * (last - first));
  xAxis->setRange(first - margin, last + margin);
  if (measure_ == Measure::kAccuracy) {
    yAxis->setRange(-0.04, 1.04);
  } else if (measure_ == Measure::kDifference) {
    const double room = std::max(0.1 * (highest - lowest), 0.05);
    yAxis->setRange(lowest - room, highest + room);
  } else {
    yAxis->setRange(0, highest > 0 ? highest * 1.1 : 1);
  }
}

QString OutcomePlot::TooltipAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return {};
  const Line* nearest = nullptr;
  qsizetype nearest_index = 0;
  double nearest_pixels = 25;
  for (const Line& line : lines_) {
    if (line.hidden) continue;
    const qsizetype count = std::min(line.series.places.size(), line.series.values.size());
    for (qsizetype i = 0; i < count; ++i) {
      const double pixels = std::hypot(xAxis->coordToPixel(line.series.places[i]) - position.x(),
                                       yAxis->coordToPixel(line.series.values[i]) - position.y());
      if (pixels < nearest_pixels) {
        nearest_pixels = pixels;
        nearest = &line;
        nearest_index = i;
      }
    }
  }
  if (!nearest) return {};
  const OutcomeSeries& series = nearest->series;
  const QString point = nearest->point_names.value(
      nearest_index, (NamesAreDepths() ? tr("depth %1") : tr("place %1"))
                         .arg(NameOfPlace(series.places[nearest_index])));
  QString tip = QStringLiteral("%1\n%2: %3")
                    .arg(nearest->name, point)
                    .arg(series.values[nearest_index], 0, 'g', 4);
  if (nearest_index < series.low.size() && nearest_index < series.high.size()) {
    tip += tr("\n95 % interval %1 to %2")
               .arg(series.low[nearest_index], 0, 'g', 4)
               .arg(series.high[nearest_index], 0, 'g', 4);
  }
  if (series.samples > 0) tip += tr("\n%1 samples").arg(series.samples);
  if (!series.low.isEmpty() && series.samples > 0 && series.samples < kFewSamples)
    tip += tr(", few for an interval (dotted)");
  if (nearest->noise > 0)
    tip += tr("\ngrey band: rounding noise, ±%1 nats").arg(nearest->noise, 0, 'g', 2);
  const QString note = nearest->notes.value(nearest_index);
  if (!note.isEmpty()) tip += tr("\n* %1").arg(note);
  return tip;
}

void OutcomePlot::ClickAt(const QPointF& position) {
  if (!axisRect()->rect().contains(position.toPoint())) return;
  const double clicked = xAxis->pixelToCoord(position.x());
  const QVector<double> places = Places();
  const auto nearest =
      std::min_element(places.begin(), places.end(), [clicked](double left, double right) {
        return std::abs(left - clicked) < std::abs(right - clicked);
      });
  if (nearest != places.end()) Q_EMIT PlaceChosen(static_cast<qint64>(*nearest));
}

void OutcomePlot::keyPressEvent(QKeyEvent* event) {
  const bool left = event->key() == Qt::Key_Left;
  const QVector<double> places = Places();
  if ((!left && event->key() != Qt::Key_Right) || !current_->visible() || places.isEmpty())
    return Plot::keyPressEvent(event);
  const qsizetype shown = places.indexOf(current_->point1->key());
  const qsizetype next = std::clamp<qsizetype>(shown + (left ? -1 : 1), 0, places.size() - 1);
  event->accept();
  if (next != shown) Q_EMIT PlaceChosen(static_cast<qint64>(places[next]));
}

void OutcomePlot::RestyleData() {
  QColor line = palette().color(QPalette::Text);
  // Wide and pale, unlike an interval, which is dotted if the samples are few.
  line.setAlpha(28);
  current_->setPen(QPen(line, 8));
  for (int i = 0; i < graphCount(); ++i) {
    QCPScatterStyle dots = graph(i)->scatterStyle();
    const bool filled = dots.brush().color() == dots.pen().color();
    if (dots.isNone() || dots.shape() == QCPScatterStyle::ssCross || filled) continue;
    dots.setBrush(palette().color(QPalette::Base));
    graph(i)->setScatterStyle(dots);
  }
}

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/panels_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr int kMostLabels = 8;  // largest number along one axis of a panel
constexpr int kShortLabel = 3;  // characters
constexpr double kLabelsHeight = 32;
constexpr double kLabelsWidth = 40;
constexpr int kPanelWidth = 130;
constexpr int kLegendWidth = 80;  // of the colour scale
constexpr int kPanelHeight = 120;
constexpr double kSmallText = 0.88;  // 7 points in pictures whose text has 8
constexpr double kRingSize = 7;

QFont SmallFont(QFont font) {
  font.setPointSizeF(font.pointSizeF() * kSmallText);
  return font;
}

// Labels the first index and every further one at a step large enough that labels do not touch.
QSharedPointer<QCPAxisTickerText> FewLabels(const QStringList& labels, qsizetype count) {
  qsizetype longest = 0;
  for (const QString& label : labels) longest = std::max(longest, label.size());
  const qsizetype most = longest > kShortLabel ? kMostLabels / 2 : kMostLabels;
  const qsizetype step = std::max<qsizetype>(1, (count + most - 1) / most);
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  for (qsizetype at = 0; at < count; at += step) {
    ticker->addTick(static_cast<double>(at),
                    labels.isEmpty() ? QString::number(at) : labels.value(at));
  }
  return ticker;
}

// The number of columns that gives approximately the requested shape and leaves the fewest empty
// cells.
int ColumnsFor(int panels, double width_by_height) {
  const int about = std::max(1, static_cast<int>(std::ceil(std::sqrt(panels * width_by_height))));
  int best = about;
  const auto empty = [panels](int columns) { return (columns - panels % columns) % columns; };
  for (int columns = std::max(1, about - 1); columns <= about + 2; ++columns) {
    if (columns <= panels && empty(columns) < empty(best)) best = columns;
  }
  return best;
}

QCPRange ValueRange(const std::vector<PanelsPlot::Panel>& panels, bool from_zero) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const PanelsPlot::Panel& panel : panels) {
    for (const QVector<double>& row : panel.rows) {
      for (const double value : row) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  if (low > high) return {0, 1};
  if (from_zero && low >= 0) low = 0;
  return {low, high > low ? high : low + 1};
}

qsizetype LongestRow(const std::vector<PanelsPlot::Panel>& panels) {
  qsizetype longest = 1;
  for (const PanelsPlot::Panel& panel : panels) {
    for (const QVector<double>& row : panel.rows) longest = std::max(longest, row.size());
  }
  return longest;
}

}  // namespace

PanelsPlot::PanelsPlot(QWidget* parent) : Plot(QString(), QStringLiteral("panels"), parent) {}

void PanelsPlot::StyleRect(int index, QCPAxisRect* rect) {
  const bool left = index % columns_ == 0;
  // Only panels of the last row, and those above an empty cell, have labels for the columns.
  const bool bottom = index + columns_ >= panels();
  QCPAxis* x = rect->axis(QCPAxis::atBottom);
  QCPAxis* y = rect->axis(QCPAxis::atLeft);
  for (QCPAxis* axis : {x, y}) {
    axis->setTickLabelFont(SmallFont(font()));
    axis->setLabelFont(SmallFont(font()));
    axis->setSubTicks(false);
    axis->setTickLengthOut(2);
    axis->setTickLengthIn(0);
    axis->grid()->setVisible(!maps_);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  for (const QCPAxis::AxisType type : {QCPAxis::atTop, QCPAxis::atRight}) {
    rect->axis(type)->setVisible(true);
    rect->axis(type)->setTicks(false);
    rect->axis(type)->setTickLabels(false);
  }
  x->setTickLabels(bottom);
  y->setTickLabels(left);
  x->setLabel(bottom ? axes_.column_axis : QString());
  y->setLabel(left ? axes_.row_axis : QString());
  rect->setMinimumMargins(QMargins(3, 1, 3, 1));
}

void PanelsPlot::MakeGrid(const std::vector<Panel>& panels, const Axes& axes) {
  panels_ = panels;
  axes_ = axes;
  QCPAxisRect* own = axisRect();
  plotLayout()->take(own);
  rects_.clear();
  names_.clear();
  for (const Panel& panel : panels) {
    rects_.push_back(rects_.empty() ? own : new QCPAxisRect(this));
    rects_.back()->setObjectName(panel.name);
    names_.push_back(
        panel.name.isEmpty() ? nullptr : new QCPTextElement(this, panel.name, SmallFont(font())));
  }
  const int columns = axes.panels_in_row > 0
                          ? axes.panels_in_row
                          : ColumnsFor(static_cast<int>(panels.size()), maps_ ? 1.4 : 0.6);
  Arrange(columns);
  RestyleData();
  plotLayout()->setRowStretchFactor(0, 0.001);
}

void PanelsPlot::RestyleData() {
  for (QCPTextElement* name : names_) {
    if (name) name->setTextColor(palette().color(QPalette::Text));
  }
}

void PanelsPlot::Arrange(int columns) {
  columns_ = columns;
  if (grid_) {
    for (QCPAxisRect* rect : rects_) grid_->take(rect);
    for (QCPTextElement* name : names_) {
      if (name) grid_->take(name);
    }
    plotLayout()->remove(grid_);
  }
  grid_ = new QCPLayoutGrid;
  plotLayout()->addElement(1, 0, grid_);
  grid_->setRowSpacing(0);
  grid_->setColumnSpacing(2);
  for (int i = 0; i < panels(); ++i) {
    const int row = i / columns_;
    QCPTextElement* name = names_[static_cast<size_t>(i)];
    StyleRect(i, rects_[static_cast<size_t>(i)]);
    if (name) {
      grid_->addElement(2 * row, i % columns_, name);
    } else {
      grid_->expandTo(2 * row + 2, i % columns_ + 1);
      grid_->setRowStretchFactor(2 * row, 0.001);  // the row is empty
    }
    grid_->addElement(2 * row + 1, i % columns_, rects_[static_cast<size_t>(i)]);
  }
  // The last row is higher by its labels, so that all panels have the same size.
  grid_->setRowStretchFactor(grid_->rowCount() - 1, 1 + kLabelsHeight / kPanelHeight);
  if (columns_ > 1) grid_->setColumnStretchFactor(0, 1 + kLabelsWidth / kPanelWidth);
  AlignRects();
}

// Panels of a column have equal widths, and those of a row equal heights.
void PanelsPlot::AlignRects() {
  std::vector<QCPMarginGroup*> across;
  QCPMarginGroup* down = nullptr;
  for (int i = 0; i < panels(); ++i) {
    QCPAxisRect* rect = rects_[static_cast<size_t>(i)];
    if (i < columns_) across.push_back(new QCPMarginGroup(this));
    if (i % columns_ == 0) down = new QCPMarginGroup(this);
    rect->setMarginGroup(QCP::msLeft | QCP::msRight, across[static_cast<size_t>(i % columns_)]);
    rect->setMarginGroup(QCP::msTop | QCP::msBottom, down);
  }
}

void PanelsPlot::UseColorScale(const QCPRange& range, const QString& name) {
  scale_ = new QCPColorScale(this);
  scale_->setType(QCPAxis::atRight);
  scale_->setBarWidth(12);
  scale_->setLabel(name);
  const bool signs = range.lower < 0 && range.upper > 0;
  const double extent = std::max(std::abs(range.lower), std::abs(range.upper));
  scale_->setGradient(signs ? DifferenceGradient() : ViridisGradient());
  scale_->setDataRange(signs ? QCPRange(-extent, extent) : range);
  for (QCPAxis* axis : {scale_->axis()}) {
    axis->setTickLabelFont(SmallFont(font()));
    axis->setLabelFont(SmallFont(font()));
  }
  plotLayout()->addElement(1, 1, scale_);
}

void PanelsPlot::ShowMaps(const std::vector<Panel>& panels, const Axes& axes) {
  maps_ = true;
  MakeGrid(panels, axes);
  UseColorScale(ValueRange(panels, axes.from_zero), axes.value);
  for (size_t i = 0; i < panels.size(); ++i) {
    const QVector<QVector<double>>& rows = panels[i].rows;
    QCPAxis* x = rects_[i]->axis(QCPAxis::atBottom);
    QCPAxis* y = rects_[i]->axis(QCPAxis::atLeft);
    auto* map = new QCPColorMap(x, y);
    map->setName(axes.value);
    map->setInterpolate(false);
    map->setTightBoundary(false);
    const auto width = static_cast<int>(rows.isEmpty() ? 0 : rows.front().size());
    const auto height = static_cast<int>(rows.size());
    SetCells(map, width, height);
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        map->data()->setCell(column, row, rows[row][column]);
      }
    }
    map->setColorScale(scale_);
    x->setTicker(FewLabels(axes.columns, width));
    y->setTicker(FewLabels(axes.rows, height));
    y->setRangeReversed(axes.row_axis != tr("layer"));  // layers upwards, as in all maps
    SetIndexNames(x, axes.columns);
    SetIndexNames(y, axes.rows);
  }
  ApplyPalette(this, palette());
  ResetView();
  QueueReplot();
}

void PanelsPlot::ShowLines(const std::vector<Panel>& panels, const Axes& axes) {
  maps_ = false;
  MakeGrid(panels, axes);
  for (size_t i = 0; i < panels.size(); ++i) {
    QCPAxis* x = rects_[i]->axis(QCPAxis::atBottom);
    QCPAxis* y = rects_[i]->axis(QCPAxis::atLeft);
    const auto [first, end] = panels[i].shaded;
    if (end > first) {
      auto* shade = new QCPItemRect(this);
      shade->setClipAxisRect(rects_[i]);
      for (QCPItemPosition* corner : {shade->topLeft, shade->bottomRight}) {
        corner->setAxes(x, y);
        corner->setAxisRect(rects_[i]);
        corner->setTypeX(QCPItemPosition::ptPlotCoords);
        corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
      }
      shade->topLeft->setCoords(first - 0.5, 0);
      shade->bottomRight->setCoords(end - 0.5, 1);
      QColor color = GoldColor();
      color.setAlpha(110);
      shade->setBrush(color);
      shade->setPen(Qt::NoPen);
    }
    auto* graph = new QCPGraph(x, y);
    graph->setName(axes.value);
    graph->setPen(QPen(SideColor(Side::kA), 1));
    for (qsizetype at = 0; !panels[i].rows.isEmpty() && at < panels[i].rows.front().size(); ++at) {
      graph->addData(static_cast<double>(at), panels[i].rows.front()[at]);
    }
    MarkSinglePoint(graph);
    AddRings(panels[i], x, y);
    SetIndexNames(x, axes.columns);
  }
  ApplyPalette(this, palette());
  ResetView();
  QueueReplot();
}

void PanelsPlot::AddRings(const Panel& panel, QCPAxis* x, QCPAxis* y) {
  if (panel.ringed.isEmpty()) return;
  auto* rings = new QCPGraph(x, y);
  rings->setName(tr("counted by the score"));
  rings->setLineStyle(QCPGraph::lsNone);
  QCPScatterStyle ring(QCPScatterStyle::ssCircle, kRingSize);
  ring.setPen(QPen(SideColor(Side::kB), 1.2));
  rings->setScatterStyle(ring);
  const QVector<double> row = panel.rows.value(0);
  for (qsizetype at = 0; at < std::min(row.size(), panel.ringed.size()); ++at) {
    if (panel.ringed[at] == 1) rings->addData(static_cast<double>(at), row[at]);
  }
}

int PanelsPlot::ColumnsAt(int width) const {
  const int least = maps_ ? kPanelWidth : 2 * kPanelWidth;
  return std::clamp((width - kLegendWidth) / least, 1, std::max(columns_, 1));
}

int PanelsPlot::PictureArea(int width) {
  const int columns = ColumnsAt(width);
  if (columns != columns_) Arrange(columns);
  return (panels() + columns_ - 1) / columns_ * kPanelHeight;
}

void PanelsPlot::ResetView() {
  const QCPRange values = ValueRange(panels_, axes_.from_zero);
  const auto width = static_cast<double>(LongestRow(panels_));
  for (size_t i = 0; i < rects_.size(); ++i) {
    rects_[i]->axis(QCPAxis::atBottom)->setRange(-0.5, width - 0.5);
    QCPAxis* y = rects_[i]->axis(QCPAxis::atLeft);
    if (maps_) {
      y->setRange(-0.5, static_cast<double>(panels_[i].rows.size()) - 0.5);
    } else {
      y->setRange(values.lower, values.upper * 1.05);
    }
  }
}

QString PanelsPlot::TooltipAt(const QPointF& position) const {
  for (size_t i = 0; i < rects_.size(); ++i) {
    if (!rects_[i]->rect().contains(position.toPoint())) continue;
    const Panel& panel = panels_[i];
    const double x = rects_[i]->axis(QCPAxis::atBottom)->pixelToCoord(position.x());
    const double y = rects_[i]->axis(QCPAxis::atLeft)->pixelToCoord(position.y());
    const auto column = static_cast<qsizetype>(std::llround(x));
    const auto row = maps_ ? static_cast<qsizetype>(std::llround(y)) : qsizetype{0};
    const QVector<double> values = panel.rows.value(row);
    if (column < 0 || column >= values.size()) return {};
    const auto name = [](const QStringList& names, qsizetype at) {
      return names.isEmpty() ? QString::number(at) : names.value(at);
    };
    const QString where =
        maps_ ? QStringLiteral(", %1 %2").arg(axes_.row_axis, name(axes_.rows, row)) : QString();
    return QStringLiteral("%1%2, %3 %4\n%5 %6")
        .arg(panel.name, where, axes_.column_axis, name(axes_.columns, column), axes_.value)
        .arg(values[column], 0, 'g', 5);
  }
  return {};
}

}  // namespace midscope

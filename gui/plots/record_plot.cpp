// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/record_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_style.h"

namespace midscope {

namespace {

constexpr int kLongestTickLabel = 14;
// In characters; longer labels are rotated so that they do not overlap.
constexpr int kLongestFlatLabel = 5;

// Ticks at 0, 1, ... of an axis with their labels.
class PlaceTicker : public QCPAxisTickerFixed {
 public:
  explicit PlaceTicker(QStringList labels) : labels_(std::move(labels)) {
    setTickStep(1);
    setScaleStrategy(ssMultiples);
  }

 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    const auto place = static_cast<qsizetype>(std::llround(tick));
    const QString label = labels_.value(place);
    return label.size() > kLongestTickLabel ? label.left(kLongestTickLabel - 1) + QChar(0x2026)
                                            : label;
  }

 private:
  QStringList labels_;
};

// `positive`: leaves out values that a logarithmic axis cannot show.
QCPRange RangeOf(const QVector<QVector<double>>& rows, bool positive = false) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const QVector<double>& row : rows) {
    for (const double value : row) {
      if (!std::isfinite(value) || (positive && value <= 0)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return positive ? QCPRange(1, 10) : QCPRange(0, 1);
  return {low, high > low ? high : low + 1};
}

}  // namespace

bool IsPicture(const Record& record, const Array& array) {
  return array.axes.size() >= 2 && HasArray(record, array.name, array.axes) &&
         !std::holds_alternative<std::vector<std::string>>(array.data) &&
         ElementCount(array.data) > 0;
}

RecordPlot::RecordPlot(QWidget* parent, const QString& file_stem)
    : Plot(QString(), file_stem, parent) {
  const ScaledMap scaled = MakeScaledMap(this);
  map_ = scaled.map;
  scale_ = scaled.scale;
  for (QCPAxis* axis : {xAxis, yAxis}) axis->setSubTicks(false);
  Show(nullptr, "", {}, RecordForm::kHeatMap);
  // Repeats the call of the base class, because the colour scale did not exist at that time.
  ApplyPalette(this, palette());
}

void RecordPlot::UseScale(bool used) {
  const bool placed = scale_->layout() != nullptr;
  scale_->setVisible(used);
  if (used && !placed) plotLayout()->addElement(1, 1, scale_);
  if (!used && placed) {
    plotLayout()->take(scale_);
    plotLayout()->simplify();
  }
}

void RecordPlot::Clear() {
  rows_.clear();
  clearGraphs();
  map_->setVisible(false);
  UseScale(false);
  SetTitle(QString());
  for (QCPAxis* axis : {xAxis, yAxis}) axis->setLabel(QString());
}

void RecordPlot::Show(const Record* record, const std::string& array,
                      const std::vector<int64_t>& leading, RecordForm form) {
  Clear();
  form_ = form;
  const Array* found = record ? record->FindArray(array) : nullptr;
  const bool picture =
      found && IsPicture(*record, *found) && leading.size() + 2 == found->axes.size();
  SetEmptyMessage(picture ? QString() : tr("Nothing to draw"));
  if (!picture) {
    QueueReplot();
    return;
  }
  const Axis& lines = *record->FindAxis(found->axes[leading.size()]);
  const Axis& along = *record->FindAxis(found->axes.back());
  value_name_ = NameWithUnit(found->name, found->unit);
  layers_upwards_ = lines.name == "layer";  // as in all other maps
  line_axis_ = NameWithUnit(lines.name, lines.unit);
  along_axis_ = NameWithUnit(along.name, along.unit);
  line_labels_ = AxisLabels(*record, lines.name);
  along_labels_ = AxisLabels(*record, along.name);
  for (int64_t line = 0; line < lines.size; ++line) {
    std::vector<int64_t> places = leading;
    places.push_back(line);
    rows_.append(LastAxisRow(*record, array, places));
  }
  QString title = RecordTitle(record->name);
  if (found->name != record->name) title += QStringLiteral(": ") + ArrayWords(found->name);
  if (!found->unit.empty())
    title += QStringLiteral(" (%1)").arg(QString::fromStdString(found->unit));
  for (size_t i = 0; i < leading.size(); ++i) {
    title += QStringLiteral(", %1 %2").arg(
        QString::fromStdString(found->axes[i]),
        AxisLabels(*record, found->axes[i]).value(static_cast<qsizetype>(leading[i])));
  }
  SetTitle(title);
  qsizetype longest = 0;
  for (const QString& label : along_labels_) longest = std::max(longest, label.size());
  xAxis->setTickLabelRotation(longest > kLongestFlatLabel ? 45 : 0);
  xAxis->setTicker(QSharedPointer<PlaceTicker>::create(along_labels_));
  SetIndexNames(xAxis, along_labels_);
  SetIndexNames(yAxis, is_map() ? line_labels_ : QStringList());
  xAxis->setLabel(along_axis_);
  if (is_map()) {
    DrawMap();
  } else {
    DrawLines();
  }
  ResetView();
  QueueReplot();
}

void RecordPlot::NumberAlong() {
  QStringList numbers;
  for (qsizetype i = 0; i < along_labels_.size(); ++i) numbers << QString::number(i);
  xAxis->setTicker(QSharedPointer<PlaceTicker>::create(numbers));
  xAxis->setTickLabelRotation(0);
}

void RecordPlot::DrawMap() {
  UseScale(true);
  scale_->setLabel(value_name_);
  map_->setVisible(true);
  map_->setName(value_name_);
  const auto columns = rows_.front().size();
  SetCells(map_, static_cast<int>(columns), static_cast<int>(rows_.size()));
  for (qsizetype line = 0; line < rows_.size(); ++line) {
    for (qsizetype along = 0; along < columns; ++along) {
      map_->data()->setCell(static_cast<int>(along), static_cast<int>(line), rows_[line][along]);
    }
  }
  const bool logarithmic = form_ == RecordForm::kLogarithmicMap;
  QCPRange range = RangeOf(rows_, logarithmic);
  // A range with both signs is centred on 0; a range with one sign (log-probabilities) goes from
  // the smallest to the largest value.
  const bool signs = range.lower < 0 && range.upper > 0;
  if (signs) {
    const double extent = std::max(std::abs(range.lower), std::abs(range.upper));
    range = QCPRange(-extent, extent);
  }
  map_->setGradient(signs ? DifferenceGradient() : ViridisGradient());
  if (logarithmic) {
    map_->setDataScaleType(QCPAxis::stLogarithmic);
    LogTicker::Use(scale_->axis());
  } else {
    map_->setDataScaleType(QCPAxis::stLinear);
    scale_->axis()->setTicker(QSharedPointer<QCPAxisTicker>::create());
    scale_->axis()->setNumberFormat(QStringLiteral("gb"));
    scale_->axis()->setNumberPrecision(6);
  }
  map_->setDataRange(range);
  yAxis->setTicker(QSharedPointer<PlaceTicker>::create(line_labels_));
  yAxis->setLabel(line_axis_);
  yAxis->setRangeReversed(!layers_upwards_);
}

void RecordPlot::DrawLines() {
  yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
  yAxis->setLabel(value_name_);
  yAxis->setRangeReversed(false);
  SetTitle(title() + tr(" — %1").arg(ColorOrderText(line_axis_)));
  QCPColorGradient gradient = ViridisGradient();
  const QCPRange range(0, std::max<double>(1, static_cast<double>(rows_.size() - 1)));
  for (qsizetype line = 0; line < rows_.size(); ++line) {
    QCPGraph* graph = addGraph();
    const QColor color = gradient.color(static_cast<double>(line), range);
    graph->setPen(QPen(color, 1));
    graph->setName(line_labels_.value(line));
    for (qsizetype along = 0; along < rows_[line].size(); ++along) {
      graph->addData(static_cast<double>(along), rows_[line][along]);
    }
    MarkSinglePoint(graph);
  }
}

double RecordPlot::ValueOf(int64_t line, int64_t along) const {
  return rows_.value(line).value(along, std::numeric_limits<double>::quiet_NaN());
}

void RecordPlot::ResetView() {
  if (rows_.isEmpty()) return;
  const auto columns = static_cast<double>(rows_.front().size());
  xAxis->setRange(-0.5, columns - 0.5);
  if (is_map()) {
    yAxis->setRange(-0.5, static_cast<double>(rows_.size()) - 0.5);
  } else {
    yAxis->setRange(RangeOf(rows_));
    yAxis->scaleRange(1.1);
  }
}

std::optional<RecordPlot::Cell> RecordPlot::CellAt(const QPointF& position) const {
  if (rows_.isEmpty() || !axisRect()->rect().contains(position.toPoint())) return {};
  const auto along = static_cast<qsizetype>(std::llround(xAxis->pixelToCoord(position.x())));
  auto line = static_cast<qsizetype>(std::llround(yAxis->pixelToCoord(position.y())));
  if (form_ == RecordForm::kLines) {
    double nearest = 20;  // in pixels
    line = -1;
    for (qsizetype i = 0; i < rows_.size(); ++i) {
      const double pixels = std::abs(yAxis->coordToPixel(ValueOf(i, along)) - position.y());
      if (pixels < nearest) {
        nearest = pixels;
        line = i;
      }
    }
  }
  if (line < 0 || line >= rows_.size() || along < 0 || along >= rows_[line].size()) return {};
  return Cell{line, along};
}

void RecordPlot::ClickAt(const QPointF& position) {
  if (!is_map()) return;
  if (const std::optional<Cell> cell = CellAt(position)) Q_EMIT CellChosen(cell->line, cell->along);
}

QString RecordPlot::TooltipAt(const QPointF& position) const {
  const std::optional<Cell> cell = CellAt(position);
  if (!cell) return {};
  const auto [line, along] = *cell;
  const double value = ValueOf(line, along);
  return QStringLiteral("%1 %2, %3 %4\n%5")
      .arg(line_axis_, line_labels_.value(line), along_axis_, along_labels_.value(along),
           std::isnan(value) ? tr("no value")
                             : value_name_ + QStringLiteral(": %1").arg(value, 0, 'g', 5));
}

namespace {

QString ElementText(const ArrayData& data, size_t index) {
  return std::visit(
      [index](const auto& values) -> QString {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if (index >= values.size()) return {};
        if constexpr (std::is_same_v<T, std::string>) {
          return QString::fromStdString(values[index]);
        } else if constexpr (std::is_same_v<T, uint8_t>) {
          return values[index] ? QStringLiteral("true") : QStringLiteral("false");
        } else if constexpr (std::is_floating_point_v<T>) {
          return std::isnan(values[index])
                     ? QString()
                     : QString::number(static_cast<double>(values[index]), 'g', 6);
        } else {
          return QString::number(static_cast<qlonglong>(values[index]));
        }
      },
      data);
}

}  // namespace

std::vector<std::string> TableAxes(const std::string& axis) {
  return axis.empty() ? std::vector<std::string>{} : std::vector<std::string>{axis};
}

void RecordTable::Show(const Record* record, const std::string& axis) {
  beginResetModel();
  columns_.clear();
  places_.clear();
  if (record) {
    for (const Array& array : record->arrays) {
      const std::vector<std::string> axes = TableAxes(axis);
      if (HasArray(*record, array.name, axes)) columns_.push_back(array);
    }
    places_ = axis.empty() ? QStringList(tr("value")) : AxisLabels(*record, axis);
  }
  endResetModel();
}

int RecordTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || columns_.empty() ? 0 : static_cast<int>(places_.size());
}

int RecordTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant RecordTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Array& column = columns_[static_cast<size_t>(index.column())];
  if (role == Qt::DisplayRole) return ElementText(column.data, static_cast<size_t>(index.row()));
  const bool text = std::holds_alternative<std::vector<std::string>>(column.data);
  if (role == Qt::TextAlignmentRole && !text) {
    return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
  }
  return {};
}

QVariant RecordTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) {
    return role == Qt::DisplayRole ? QVariant(places_.value(section)) : QVariant();
  }
  const auto index = static_cast<size_t>(section);
  if (index >= columns_.size()) return {};
  const Array& column = columns_[index];
  if (role == Qt::ToolTipRole) return QString::fromStdString(column.description);
  if (role != Qt::DisplayRole) return {};
  const std::string unit = column.unit.empty() ? "" : " (" + column.unit + ")";
  return QString::fromStdString(column.name + unit);
}

}  // namespace midscope

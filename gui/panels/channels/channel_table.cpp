// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/channels/channel_table.h"

#include <QAbstractTableModel>
#include <QHeaderView>
#include <QObject>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "probes/measure/channels/channel_search.h"

namespace midscope {

namespace {

constexpr const char* kMeanArray = "hidden_mean";
constexpr const char* kFitArray = "cubic_fit";

QString TrendText(double trend) {
  return trend > 0 ? QObject::tr("rising") : trend < 0 ? QObject::tr("falling") : QString();
}

// Returns nullopt if the setting was written by a later version and cannot be parsed.
std::optional<ChannelScaling> ScalingOf(const QString& setting) {
  try {
    const Intervention intervention = ParseIntervention(setting.toStdString());
    if (const auto* scaling = intervention.Find<ChannelScaling>()) return *scaling;
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::optional<RankedChannel::Trial> BestTrial(const Record& validation, int64_t channel) {
  std::optional<RankedChannel::Trial> best;
  const QStringList settings = AxisLabels(validation, "setting");
  for (int64_t i = 0; i < settings.size(); ++i) {
    const double tried = ValueAt(validation, "trial_channel", {i});
    const double loss = ValueAt(validation, "loss", {i});
    if (tried != static_cast<double>(channel) || !std::isfinite(loss)) continue;
    if (best && best->loss <= loss) continue;
    const auto scaling = ScalingOf(settings[i]);
    if (scaling) best = {*scaling, loss, ValueAt(validation, "loss_difference", {i})};
  }
  return best;
}

int64_t WholeAt(const Record& record, const std::string& array, int64_t index) {
  const double value = ValueAt(record, array, {index});
  return std::isnan(value) ? -1 : static_cast<int64_t>(value);
}

void AddRow(const Record& search, const char* array, int64_t candidate, int64_t layer,
            const QString& name, Record& curves) {
  curves.axes[0].labels.push_back(name.toStdString());
  ++curves.axes[0].size;
  auto& values = std::get<std::vector<double>>(curves.arrays[0].data);
  const QVector<double> row = LastAxisRow(search, array, {candidate, layer});
  values.insert(values.end(), row.begin(), row.end());
}

}  // namespace

QVector<RankedChannel> RankedChannels(const Record& search, const Record* validation) {
  QVector<RankedChannel> ranked;
  const QVector<double> order = LastAxisRow(search, "ranked_channel", {});
  ranked.reserve(order.size());
  for (const double number : order) {
    RankedChannel one;
    one.channel = static_cast<int64_t>(number);
    one.monotone_layers = WholeAt(search, "monotone_layers", one.channel);
    one.trend = TrendText(ValueAt(search, "trend", {one.channel}));
    one.smoothness = ValueAt(search, "smoothness", {one.channel});
    one.smoothest_layer = WholeAt(search, "smoothest_layer", one.channel);
    one.has_curves = AxisIndexOf(search, "candidate", number) >= 0;
    if (validation) one.trial = BestTrial(*validation, one.channel);
    ranked.push_back(std::move(one));
  }
  return ranked;
}

bool IsPreliminary(const Record& search) { return search.attributes.contains(kPlannedPrompts); }

QString ChannelsSummary(const Record& search) {
  const int64_t prompts = IntegerAttribute(search, "prompts", 0);
  const int64_t tokens = IntegerAttribute(search, "tokens", 0);
  const int64_t threshold = IntegerAttribute(search, "layer_threshold", 0);
  int64_t over = 0;
  for (const double count : LastAxisRow(search, "monotone_layers", {}))
    over += count > static_cast<double>(threshold) ? 1 : 0;
  const QString text =
      search.name == kChannelSearchRecord
          ? QObject::tr("mean of %1 prompts of %2 random tokens").arg(prompts).arg(tokens)
          : QObject::tr("this prompt alone, %1 tokens").arg(tokens);
  const QString preliminary = IsPreliminary(search)
                                  ? QObject::tr("Preliminary, after %1 of %2 prompts: ")
                                        .arg(prompts)
                                        .arg(IntegerAttribute(search, kPlannedPrompts, 0))
                                  : QString();
  return preliminary + QObject::tr("%1 channels have a trend in more than %2 of %3 layers; %4")
                           .arg(over)
                           .arg(threshold)
                           .arg(IntegerAttribute(search, "layers_examined", 0))
                           .arg(text);
}

std::optional<Record> ChannelCurves(const Record& search, int64_t channel, int64_t layer) {
  const int64_t candidate = AxisIndexOf(search, "candidate", static_cast<double>(channel));
  const std::vector<std::string> axes = {"candidate", "layer", "position"};
  if (candidate < 0 || !HasArray(search, kMeanArray, axes)) return std::nullopt;
  Record curves;
  curves.name = "channel_curves";
  curves.axes = {{"curve", 0, "", {}, {}}, *search.FindAxis("position")};
  curves.arrays = {{kMeanArray, {"curve", "position"}, std::vector<double>(), "", ""}};
  const QVector<double> layers = AxisValues(search, "layer");
  for (int64_t i = 0; i < layers.size(); ++i) {
    if (layer >= 0 && layers[i] != static_cast<double>(layer)) continue;
    const QString name = QObject::tr("layer %1").arg(layers[i]);
    AddRow(search, kMeanArray, candidate, i, name, curves);
    if (layer >= 0 && HasArray(search, kFitArray, axes))
      AddRow(search, kFitArray, candidate, i, QObject::tr("its cubic fit"), curves);
  }
  if (curves.axes[0].size == 0) return std::nullopt;
  return curves;
}

QString ChannelCurvesTitle(const Record& search, const RankedChannel& channel, int64_t layer) {
  const int64_t layers = IntegerAttribute(search, "layers_examined", 0);
  const QString where = layer < 0 ? QObject::tr("all layers") : QObject::tr("layer %1").arg(layer);
  const QString of =
      search.name == kChannelSearchRecord ? QObject::tr("random text") : QObject::tr("this prompt");
  return QObject::tr("Channel %1, %2: %3 in %4 of %5 layers — %6")
      .arg(channel.channel)
      .arg(where, channel.trend)
      .arg(channel.monotone_layers)
      .arg(layers)
      .arg(of);
}

namespace {

enum Column {
  kChannelColumn,
  kLayersColumn,
  kTrendColumn,
  kSmoothnessColumn,
  kSmoothestColumn,
  kFactorColumn,
  kLossColumn,
  kColumnCount
};

constexpr int kPadding = 14;    // pixels beside the text of a cell
constexpr int kSortArrow = 18;  // pixels of the sort indicator in a header
constexpr int kRowGap = 6;      // pixels between the texts of two rows

struct ColumnText {
  const char* name;
  const char* tip;
  const char* widest;  // the longest text that fits
};

constexpr ColumnText kColumnTexts[] = {
    {"channel", "Channel of the residual stream", "00000"},
    {"layers", "Layers in which the channel's cubic fit has its trend", "000"},
    {"trend", "With position", "falling"},
    {"smoothness",
     "Sum of squared second differences, least over these layers; "
     "smaller is smoother",
     "000.0000"},
    {"at layer", "The smoothest of these layers", "000"},
    {"factor", "The one of those tried that has the least loss", "-0.00"},
    {"loss", "In nats on the examples, and the difference to no change", "00.000 (+0.000)"}};

QString LossText(const RankedChannel::Trial& trial) {
  const QString sign = trial.difference >= 0 ? QStringLiteral("+") : QString();
  return QStringLiteral("%1 (%2%3)")
      .arg(trial.loss, 0, 'f', 3)
      .arg(sign)
      .arg(trial.difference, 0, 'f', 3);
}

QString CellText(const RankedChannel& channel, int column) {
  switch (column) {
    case kChannelColumn:
      return QString::number(channel.channel);
    case kLayersColumn:
      return QString::number(channel.monotone_layers);
    case kTrendColumn:
      return channel.trend;
    case kSmoothnessColumn:
      return QString::number(channel.smoothness, 'f', 4);
    case kSmoothestColumn:
      return QString::number(channel.smoothest_layer);
    case kFactorColumn:
      return channel.trial ? QString::number(channel.trial->scaling.factor) : QString();
    case kLossColumn:
      return channel.trial ? LossText(*channel.trial) : QString();
    default:
      return {};
  }
}

// The number that sorts a cell; NaN: the cell is empty.
double CellNumber(const RankedChannel& channel, int column) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  switch (column) {
    case kChannelColumn:
      return static_cast<double>(channel.channel);
    case kLayersColumn:
      return static_cast<double>(channel.monotone_layers);
    case kSmoothnessColumn:
      return channel.smoothness;
    case kSmoothestColumn:
      return static_cast<double>(channel.smoothest_layer);
    case kFactorColumn:
      return channel.trial ? channel.trial->scaling.factor : none;
    case kLossColumn:
      return channel.trial ? channel.trial->loss : none;
    default:
      return none;
  }
}

// Whether a row precedes another one in ascending order; rows without a number are last.
bool Precedes(const RankedChannel& left, const RankedChannel& right, int column) {
  if (column == kTrendColumn) return left.trend < right.trend;
  const double a = CellNumber(left, column);
  const double b = CellNumber(right, column);
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

}  // namespace

class ChannelTable::Model : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  const QVector<RankedChannel>& ranked() const { return ranked_; }
  // The channel in a row; nullptr if the row does not exist.
  const RankedChannel* At(int row) const {
    return row >= 0 && row < order_.size() ? &ranked_[order_[row]] : nullptr;
  }
  // If the ranked channels are unchanged, only the cells are updated, as while a search runs.
  void Set(const QVector<RankedChannel>& ranked) {
    if (std::equal(ranked.begin(), ranked.end(), ranked_.begin(), ranked_.end(),
                   [](const auto& a, const auto& b) { return a.channel == b.channel; })) {
      ranked_ = ranked;
      if (!ranked.isEmpty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumnCount - 1));
      return;
    }
    beginResetModel();
    ranked_ = ranked;
    order_.resize(ranked.size());
    std::iota(order_.begin(), order_.end(), 0);
    endResetModel();
  }

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
  }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : kColumnCount;
  }
  QVariant data(const QModelIndex& index, int role) const override {
    const RankedChannel* channel = At(index.row());
    if (!channel) return {};
    if (role == Qt::DisplayRole) return CellText(*channel, index.column());
    if (role == Qt::TextAlignmentRole && index.column() != kTrendColumn)
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumnCount) return {};
    if (role == Qt::DisplayRole) return ChannelTable::tr(kColumnTexts[section].name);
    if (role == Qt::ToolTipRole) return ChannelTable::tr(kColumnTexts[section].tip);
    return {};
  }
  // Column -1 restores the order of the ranking.
  void sort(int column, Qt::SortOrder order) override {
    Q_EMIT layoutAboutToBeChanged();
    const QModelIndexList before = persistentIndexList();
    QVector<qsizetype> channels;
    for (const QModelIndex& index : before) channels.append(order_.value(index.row()));
    std::iota(order_.begin(), order_.end(), 0);
    if (column >= 0) {
      std::stable_sort(order_.begin(), order_.end(), [&](qsizetype left, qsizetype right) {
        return order == Qt::AscendingOrder ? Precedes(ranked_[left], ranked_[right], column)
                                           : Precedes(ranked_[right], ranked_[left], column);
      });
    }
    for (qsizetype i = 0; i < before.size(); ++i) {
      const auto row = static_cast<int>(order_.indexOf(channels[i]));
      changePersistentIndex(before[i], index(row, before[i].column()));
    }
    Q_EMIT layoutChanged();
  }

 private:
  QVector<RankedChannel> ranked_;
  QVector<qsizetype> order_;  // indices into ranked_, by row
};

ChannelTable::ChannelTable(QWidget* parent) : QTableView(parent), model_(new Model(this)) {
  setObjectName(QStringLiteral("channels_table"));
  setModel(model_);
  const QFontMetrics metrics = fontMetrics();
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  verticalHeader()->setDefaultSectionSize(metrics.height() + kRowGap);
  horizontalHeader()->setHighlightSections(false);
  for (int column = 0; column < kColumnCount; ++column) {
    const int header = metrics.horizontalAdvance(tr(kColumnTexts[column].name)) + kSortArrow;
    const int cell = metrics.horizontalAdvance(QLatin1String(kColumnTexts[column].widest));
    setColumnWidth(column, std::max(header, cell) + kPadding);
  }
  for (const Column column : {kFactorColumn, kLossColumn}) setColumnHidden(column, true);
  // The results of trials are beside the channel, where a narrow panel shows them.
  horizontalHeader()->moveSection(kFactorColumn, 1);
  horizontalHeader()->moveSection(kLossColumn, 2);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  setSortingEnabled(true);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setAlternatingRowColors(true);
  connect(selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &ChannelTable::ChosenChanged);
}

const RankedChannel* ChannelTable::chosen() const {
  const QModelIndexList rows = selectionModel()->selectedRows();
  return rows.isEmpty() ? nullptr : model_->At(rows.front().row());
}

void ChannelTable::Show(const QVector<RankedChannel>& ranked, bool trials) {
  const RankedChannel* before = chosen();
  if (ranked == model_->ranked() && trials == trials_ && (before || ranked.isEmpty())) return;
  const int64_t kept = before ? before->channel : -1;
  const QSignalBlocker blocker(this);
  trials_ = trials;
  model_->Set(ranked);
  for (const Column column : {kFactorColumn, kLossColumn}) setColumnHidden(column, !trials);
  model_->sort(horizontalHeader()->sortIndicatorSection(),
               horizontalHeader()->sortIndicatorOrder());
  if (ranked.isEmpty() || chosen()) return;
  int row = model_->rowCount() - 1;
  while (row > 0 && model_->At(row)->channel != kept) --row;
  selectRow(row);
}

}  // namespace midscope

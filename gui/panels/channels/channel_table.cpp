// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/channels/channel_table.h"

#include <QAbstractTableModel>
#include <QHeaderView>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace midscope {
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
  // Trials that go on change only the cells of the same channels.
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

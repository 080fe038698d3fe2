// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/channels/channel_table.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <cmath>
#include <utility>

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
constexpr int kRowRole = Qt::UserRole;  // role in kChannelColumn: index into the ranking

// An item that shows a text and is sorted as a number; NaN: empty.
QTableWidgetItem* NumberItem(double value, const QString& text) {
  class Item : public QTableWidgetItem {
   public:
    Item(const QString& text, double value) : QTableWidgetItem(text), value_(value) {}
    bool operator<(const QTableWidgetItem& other) const override {
      const auto* number = dynamic_cast<const Item*>(&other);
      // Items without a number are sorted last.
      if (!number || std::isnan(number->value_)) return !std::isnan(value_);
      return value_ < number->value_;
    }

   private:
    double value_;
  };
  auto* item = new Item(std::isnan(value) ? QString() : text, value);
  item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  item->setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled);
  return item;
}

QTableWidgetItem* WholeItem(int64_t value) {
  return NumberItem(static_cast<double>(value), QString::number(value));
}

void FillRow(QTableWidget& table, int row, const RankedChannel& channel) {
  table.setItem(row, kChannelColumn, WholeItem(channel.channel));
  table.item(row, kChannelColumn)->setData(kRowRole, row);
  table.setItem(row, kLayersColumn, WholeItem(channel.monotone_layers));
  auto* trend = new QTableWidgetItem(channel.trend);
  trend->setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled);
  table.setItem(row, kTrendColumn, trend);
  table.setItem(row, kSmoothnessColumn,
                NumberItem(channel.smoothness, QString::number(channel.smoothness, 'f', 4)));
  table.setItem(row, kSmoothestColumn, WholeItem(channel.smoothest_layer));
  if (!channel.trial) return;
  const RankedChannel::Trial& trial = *channel.trial;
  table.setItem(row, kFactorColumn,
                NumberItem(trial.scaling.factor, QString::number(trial.scaling.factor)));
  const QString sign = trial.difference >= 0 ? QStringLiteral("+") : QString();
  table.setItem(row, kLossColumn,
                NumberItem(trial.loss, QStringLiteral("%1 (%2%3)")
                                           .arg(trial.loss, 0, 'f', 3)
                                           .arg(sign)
                                           .arg(trial.difference, 0, 'f', 3)));
}

}  // namespace

ChannelTable::ChannelTable(QWidget* parent) : QTableWidget(0, kColumnCount, parent) {
  setObjectName(QStringLiteral("channels_table"));
  const std::pair<QString, QString> headers[] = {
      {tr("channel"), tr("Channel of the residual stream")},
      {tr("layers"), tr("Layers in which the channel's cubic fit has its trend")},
      {tr("trend"), tr("With position")},
      {tr("smoothness"), tr("Sum of squared second differences, least over these layers; "
                            "smaller is smoother")},
      {tr("at layer"), tr("The smoothest of these layers")},
      {tr("factor"), tr("The one of those tried that has the least loss")},
      {tr("loss"), tr("In nats on the examples, and the difference to no change")}};
  for (int column = 0; column < kColumnCount; ++column) {
    auto* header = new QTableWidgetItem(headers[column].first);
    header->setToolTip(headers[column].second);
    setHorizontalHeaderItem(column, header);
  }
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  horizontalHeader()->setHighlightSections(false);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setAlternatingRowColors(true);
}

const RankedChannel* ChannelTable::chosen() const {
  const QList<QTableWidgetItem*> selected = selectedItems();
  if (selected.isEmpty()) return nullptr;
  const int index = item(selected.front()->row(), kChannelColumn)->data(kRowRole).toInt();
  return index < ranked_.size() ? &ranked_[index] : nullptr;
}

void ChannelTable::Show(const QVector<RankedChannel>& ranked, bool trials) {
  const RankedChannel* before = chosen();
  const int64_t kept = before ? before->channel : -1;
  const QSignalBlocker blocker(this);
  ranked_ = ranked;
  setSortingEnabled(false);
  clearContents();
  setRowCount(static_cast<int>(ranked_.size()));
  for (int row = 0; row < rowCount(); ++row) FillRow(*this, row, ranked_[row]);
  for (const Column column : {kFactorColumn, kLossColumn}) setColumnHidden(column, !trials);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  setSortingEnabled(true);
  resizeColumnsToContents();
  int select = ranked_.isEmpty() ? -1 : 0;
  for (int row = 0; row < rowCount(); ++row) {
    if (ranked_[row].channel == kept) select = row;
  }
  if (select >= 0) selectRow(select);
}

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/head_map/head_list.h"

#include <QHeaderView>
#include <QMouseEvent>
#include <QSortFilterProxyModel>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gui/base/display_text.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

// Sorts missing values last in both sort orders.
class NumberOrder : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
    const double a = left.data(Qt::UserRole).toDouble();
    const double b = right.data(Qt::UserRole).toDouble();
    const bool descending = sortOrder() == Qt::DescendingOrder;
    if (std::isnan(a)) return descending && !std::isnan(b);
    if (std::isnan(b)) return !descending;
    return a < b;
  }
};

}  // namespace

void HeadListModel::Show(const HeadTable& a, const HeadTable& b, const HeadTable& ranked) {
  beginResetModel();
  a_ = a;
  b_ = b;
  const HeadTable& shape = a.layers > 0 ? a : b;
  heads_ = shape.heads;
  ranks_.assign(shape.values.size(), 0);
  if (ranked.values.size() == ranks_.size()) {
    std::vector<size_t> order(ranks_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto key = [&ranked](size_t i) {
      return std::isnan(ranked.values[i]) ? -std::numeric_limits<double>::infinity()
                                          : ranked.values[i];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&key](size_t left, size_t right) { return key(left) > key(right); });
    for (size_t i = 0; i < order.size(); ++i) ranks_[order[i]] = static_cast<int>(i) + 1;
  }
  endResetModel();
}

HeadId HeadListModel::HeadOf(int row) const {
  return heads_ > 0 ? HeadId{row / heads_, row % heads_} : HeadId{};
}

int HeadListModel::RowOf(HeadId head) const {
  const int64_t row = head.layer * heads_ + head.head;
  return head.head < heads_ && row < rowCount() ? static_cast<int>(row) : -1;
}

int HeadListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(ranks_.size());
}

int HeadListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

double HeadListModel::Value(int row, int column) const {
  const auto at = static_cast<size_t>(row);
  const auto of = [at](const HeadTable& table) {
    return at < table.values.size() ? table.values[at] : std::numeric_limits<double>::quiet_NaN();
  };
  switch (column) {
    case kRank:
      return ranks_[at];
    case kHead:
      return row;
    case kA:
      return of(a_);
    case kB:
      return of(b_);
    default:
      return of(b_) - of(a_);
  }
}

QVariant HeadListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole) return int{Qt::AlignRight | Qt::AlignVCenter};
  const double value = Value(index.row(), index.column());
  if (role == Qt::UserRole) return value;
  if (role != Qt::DisplayRole) return {};
  if (index.column() == kHead) return HeadText(HeadOf(index.row()));
  if (index.column() == kRank) return ranks_[static_cast<size_t>(index.row())];
  return std::isnan(value) ? QString() : QString::number(value, 'g', 3);
}

QVariant HeadListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString names[] = {tr("rank"), tr("head"), tr("A"), tr("B"), tr("B − A")};
  return section >= 0 && section < kColumns ? names[section] : QVariant();
}

HeadList::HeadList(Selection* selection, QWidget* parent)
    : QTableView(parent), selection_(selection) {
  setObjectName(QStringLiteral("head_list"));
  model_ = new HeadListModel(this);
  sorted_ = new NumberOrder(this);
  sorted_->setSourceModel(model_);
  setModel(sorted_);
  setSortingEnabled(true);
  sortByColumn(HeadListModel::kRank, Qt::AscendingOrder);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setToolTip(tr("Click: show the head; Ctrl+click: pin it; click a column's head: sort"));
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  for (const int narrow : {HeadListModel::kRank, HeadListModel::kHead}) {
    horizontalHeader()->setSectionResizeMode(narrow, QHeaderView::Fixed);
    setColumnWidth(narrow, fontMetrics().horizontalAdvance(QStringLiteral("L99H99")) + 14);
  }
  setMinimumWidth(240);
  connect(selection_, &Selection::HeadChanged, this, &HeadList::MarkHead);
  connect(model_, &QAbstractItemModel::modelReset, this, [this] { MarkHead(selection_->head()); });
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (marking_ || !current.isValid()) return;
            selection_->Choose(model_->HeadOf(sorted_->mapToSource(current).row()));
          });
}

// Bypasses the selection model while Ctrl is pressed, because Ctrl+click would deselect the row.
void HeadList::mouseReleaseEvent(QMouseEvent* event) {
  QTableView::mouseReleaseEvent(event);
  const QModelIndex row = indexAt(event->position().toPoint());
  if (row.isValid() && (event->modifiers() & Qt::ControlModifier)) {
    selection_->TogglePin(model_->HeadOf(sorted_->mapToSource(row).row()));
  }
}

void HeadList::MarkHead(HeadId head) {
  const int row = model_->RowOf(head);
  if (row < 0) return;
  const QModelIndex index = sorted_->mapFromSource(model_->index(row, 0));
  if (index.row() == currentIndex().row()) return;
  marking_ = true;
  setCurrentIndex(index);
  marking_ = false;
}

}  // namespace midscope

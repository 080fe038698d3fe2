// SPDX-License-Identifier: GPL-3.0-or-later
// The heads of the map as a sortable table: rank, head, the values of A and B and their difference.
#pragma once

#include <QAbstractTableModel>
#include <QTableView>

#include "gui/base/head_quantities.h"
#include "gui/base/view_types.h"

class QSortFilterProxyModel;

namespace midscope {

class Selection;

class HeadListModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kRank, kHead, kA, kB, kDifference, kColumns };

  using QAbstractTableModel::QAbstractTableModel;

  // `b`: empty if there is no B. `ranked`: the values that define the ranks, largest first.
  void Show(const HeadTable& a, const HeadTable& b, const HeadTable& ranked);
  HeadId HeadOf(int row) const;
  int RowOf(HeadId head) const;  // Returns -1 if not found.

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  // Role Qt::UserRole: the number to sort by.
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  double Value(int row, int column) const;

  HeadTable a_;
  HeadTable b_;
  std::vector<int> ranks_;  // [layer, head]; ranks start at 1
  int64_t heads_ = 0;
};

class HeadList : public QTableView {
  Q_OBJECT

 public:
  explicit HeadList(Selection* selection, QWidget* parent = nullptr);

  HeadListModel* heads() const { return model_; }

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  void MarkHead(midscope::HeadId head);

  Selection* selection_;
  HeadListModel* model_;
  QSortFilterProxyModel* sorted_;
  bool marking_ = false;
};

}  // namespace midscope

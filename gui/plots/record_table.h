// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the arrays of a record over one axis as a table: one row per index, one column per array.
#pragma once

#include <QAbstractTableModel>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

class RecordTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  // Shows all arrays whose only axis is `axis`; if that is "", all single values. If the record is
  // null, the table is empty.
  void Show(const Record* record, const std::string& axis);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Array> columns_;
  QStringList places_;
};

// The list of axes that an array in such a table must have.
std::vector<std::string> TableAxes(const std::string& axis);

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// A position ratio for every head, as an editable table [layer, head]: blue above 1, red below, the
// deeper the further on a logarithmic scale.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "core/base/record.h"

namespace midscope {

class RatioTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit RatioTable(QObject* parent = nullptr);

  // All ratios 1.
  void Reset(int64_t layers, int64_t heads);
  // Those of a record `position_ratio`; false where it has none.
  bool TakeFrom(const Record& record);
  // Rows of numbers with tabs, commas, semicolons or spaces between them, from that cell on; what
  // goes over the edge is left out. Throws Error (usage) that names what is no ratio, and then
  // changes nothing.
  void Paste(const QString& text, int layer, int head);
  // Rows of numbers with tabs between them.
  QString Text() const;
  // [[head 0, head 1, ...] of layer 0, ...], which ratios(FILE) reads.
  std::string Json() const;
  double ratio(int64_t layer, int64_t head) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  size_t Place(int64_t layer, int64_t head) const;

  int64_t layers_ = 0;
  int64_t heads_ = 0;
  std::vector<double> ratios_;  // [layer, head]
};

}  // namespace midscope

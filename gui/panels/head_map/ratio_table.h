// SPDX-License-Identifier: GPL-3.0-or-later
// A position ratio per head as an editable table [layer, head]: blue above 1, red below, darker
// with the distance from 1 on a logarithmic scale.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"

namespace midscope {

class RatioTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit RatioTable(QObject* parent = nullptr);

  // Sets all ratios to 1.
  void Reset(int64_t layers, int64_t heads);
  // Sets the ratios of a record `position_ratio`; returns false where it has none.
  bool TakeFrom(const Record& record);
  // Sets rows of numbers, separated by tabs, commas, semicolons or spaces, from that cell on;
  // numbers beyond the table's edge are ignored. Throws Error (usage) for a text that is not a
  // ratio, and then changes nothing.
  void Paste(const QString& text, int layer, int head);
  // Rows of numbers separated by tabs.
  QString Text() const;
  // [[head 0, head 1, ...] of layer 0, ...], the format of ratios(FILE).
  std::string Json() const;
  HeadRatioTable Table() const;
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

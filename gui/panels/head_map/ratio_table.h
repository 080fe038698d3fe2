// SPDX-License-Identifier: GPL-3.0-or-later
// An editable table [layer, head] of position ratios. Cells are blue above 1 and red below, darker
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
  // Sets the ratios from a record `position_ratio`. Returns false if the record has none.
  bool TakeFrom(const Record& record);
  // Pastes rows of numbers, separated by tabs, commas, semicolons or spaces, starting at the given
  // cell; ignores numbers beyond the table's edge. If a text is not a ratio, throws Error (usage)
  // and changes nothing.
  void Paste(const QString& text, int layer, int head);
  // The table as rows of numbers separated by tabs.
  QString Text() const;
  // The table as [[head 0, head 1, ...] of layer 0, ...], the format of ratios(FILE).
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

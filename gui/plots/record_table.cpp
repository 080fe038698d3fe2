// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/record_table.h"

#include <cmath>
#include <type_traits>

#include "gui/base/record_access.h"

namespace midscope {
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/record_access.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/record.h"

namespace midscope {
namespace {

template <typename Number>
Number AttributeOr(const Record& record, const std::string& name, Number otherwise) {
  const auto found = record.attributes.find(name);
  if (found == record.attributes.end()) return otherwise;
  const auto* number = std::get_if<Number>(&found->second);
  return number ? *number : otherwise;
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double ElementAt(const ArrayData& data, size_t index) {
  return std::visit(
      [index](const auto& values) -> double {
        using Element = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<Element>) {
          return index < values.size() ? static_cast<double>(values[index]) : kNone;
        } else {
          return kNone;
        }
      },
      data);
}

// Offset and number of elements of the sub-array at the leading indices; -1: out of range.
struct Slice {
  int64_t begin = -1;
  int64_t size = 0;
};

Slice SliceAt(const Record& record, const Array& array, const std::vector<int64_t>& leading) {
  if (leading.size() > array.axes.size()) return {};
  int64_t begin = 0;
  int64_t size = 1;
  for (size_t i = 0; i < array.axes.size(); ++i) {
    const int64_t places = AxisSize(record, array.axes[i]);
    const bool fixed = i < leading.size();
    if (fixed && (leading[i] < 0 || leading[i] >= places)) return {};
    begin = begin * places + (fixed ? leading[i] : 0);
    if (!fixed) size *= places;
  }
  if (begin + size > ElementCount(array.data)) return {};
  return {begin, size};
}

}  // namespace

int64_t AxisSize(const Record& record, const std::string& axis) {
  const Axis* found = record.FindAxis(axis);
  return found ? found->size : 0;
}

QVector<double> AxisValues(const Record& record, const std::string& axis) {
  const Axis* found = record.FindAxis(axis);
  QVector<double> values;
  if (!found) return values;
  values.reserve(found->size);
  for (int64_t i = 0; i < found->size; ++i) {
    const bool given = static_cast<size_t>(i) < found->values.size();
    values.append(given ? found->values[static_cast<size_t>(i)] : static_cast<double>(i));
  }
  return values;
}

QStringList AxisLabels(const Record& record, const std::string& axis) {
  const Axis* found = record.FindAxis(axis);
  QStringList labels;
  if (!found) return labels;
  if (!found->labels.empty()) {
    for (const std::string& label : found->labels) labels << QString::fromStdString(label);
    return labels;
  }
  for (const double value : AxisValues(record, axis)) labels << QString::number(value, 'g', 12);
  return labels;
}

int64_t AxisIndexOf(const Record& record, const std::string& axis, double value) {
  return AxisValues(record, axis).indexOf(value);
}

bool HasArray(const Record& record, const std::string& array,
              const std::vector<std::string>& axes) {
  const Array* found = record.FindArray(array);
  if (!found || found->axes != axes) return false;
  return SliceAt(record, *found, {}).begin == 0;
}

QVector<double> LastAxisRow(const Record& record, const std::string& array,
                            const std::vector<int64_t>& leading) {
  const Array* found = record.FindArray(array);
  if (!found || leading.size() + 1 != found->axes.size()) return {};
  const Slice slice = SliceAt(record, *found, leading);
  if (slice.begin < 0) return {};
  QVector<double> row(slice.size, kNone);
  std::visit(
      [&row, &slice](const auto& values) {
        using Element = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<Element>) {
          const auto all = static_cast<int64_t>(values.size());
          const int64_t end = std::min(slice.begin + slice.size, all);
          for (int64_t i = slice.begin; i < end; ++i)
            row[i - slice.begin] = static_cast<double>(values[static_cast<size_t>(i)]);
        }
      },
      found->data);
  return row;
}

double ValueAt(const Record& record, const std::string& array,
               const std::vector<int64_t>& indices) {
  const Array* found = record.FindArray(array);
  if (!found || indices.size() != found->axes.size()) return kNone;
  const Slice slice = SliceAt(record, *found, indices);
  return slice.begin < 0 ? kNone : ElementAt(found->data, static_cast<size_t>(slice.begin));
}

Record AtIndex(const Record& record, const std::string& axis, int64_t index) {
  if (index < 0 || index >= AxisSize(record, axis)) return record;
  const auto at = static_cast<size_t>(index);
  Record part = record;
  for (Array& array : part.arrays) {
    const auto found = std::find(array.axes.begin(), array.axes.end(), axis);
    if (found == array.axes.end()) continue;
    // Elements of the trailing axes are contiguous.
    size_t inner = 1;
    for (auto behind = found + 1; behind != array.axes.end(); ++behind) {
      inner *= static_cast<size_t>(AxisSize(record, *behind));
    }
    const size_t outer = inner * static_cast<size_t>(AxisSize(record, axis));
    std::visit(
        [&](auto& values) {
          std::decay_t<decltype(values)> kept;
          for (size_t begin = 0; begin + outer <= values.size(); begin += outer) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin + at * inner);
            kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(inner));
          }
          values = std::move(kept);
        },
        array.data);
  }
  for (Axis& own : part.axes) {
    if (own.name != axis) continue;
    own.size = 1;
    if (!own.labels.empty()) own.labels = {record.FindAxis(axis)->labels.at(at)};
    if (!own.values.empty()) own.values = {record.FindAxis(axis)->values.at(at)};
  }
  return part;
}

QStringList Texts(const Record& record, const std::string& array) {
  const Array* found = record.FindArray(array);
  QStringList texts;
  if (!found) return texts;
  if (const auto* strings = std::get_if<std::vector<std::string>>(&found->data)) {
    for (const std::string& text : *strings) texts << QString::fromStdString(text);
  }
  return texts;
}

QString TextAttribute(const Record& record, const std::string& name) {
  return QString::fromStdString(AttributeText(record, name));
}

int64_t IntegerAttribute(const Record& record, const std::string& name, int64_t otherwise) {
  return AttributeOr(record, name, otherwise);
}

double NumberAttribute(const Record& record, const std::string& name, double otherwise) {
  return AttributeOr(record, name, otherwise);
}

QString ShownToken(const QString& token) {
  QString shown = token;
  if (shown.trimmed().isEmpty()) shown.replace(QLatin1Char(' '), QChar(0x2423));  // open box
  shown.replace(QStringLiteral("\n"), QStringLiteral("\\n"));
  shown.replace(QStringLiteral("\t"), QStringLiteral("\\t"));
  shown.replace(QStringLiteral("\r"), QStringLiteral("\\r"));
  return QStringLiteral("\u201c") + shown + QStringLiteral("\u201d");
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "probes/cli/text/record_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "core/base/record.h"
#include "core/base/utf8.h"
#include "data/export/export.h"
#include "probes/base/records.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {

namespace {

constexpr int64_t kLongestTable = 64;
constexpr int64_t kLargestMatrix = 4096;
constexpr size_t kLongestText = 90;

// Returns a text of a record as one line. Token texts are stored as escaped by DisplayText: if
// nothing else needs an escape, their backslashes are not doubled.
std::string OneLine(const std::string& text) {
  const auto is_backslash = [](char c) { return c == '\\'; };
  const auto doubled = static_cast<size_t>(std::ranges::count_if(text, is_backslash));
  std::string shown = DisplayText(text);
  return shown.size() == text.size() + doubled ? text : shown;
}

std::string Place(const Axis& axis, int64_t index) {
  const auto at = static_cast<size_t>(index);
  if (!axis.labels.empty()) return OneLine(axis.labels[at]);
  const int64_t offset = axis.unit == kRankFromZero ? 1 : 0;
  if (axis.values.empty()) return std::to_string(index + offset);
  return fmt::format("{:g}", axis.values[at] + static_cast<double>(offset));
}

// Offset added to an array's numbers when printed: 1 for ranks that count from 0.
int64_t PrintedOffset(const Array& array) { return array.unit == kRankFromZero ? 1 : 0; }

std::string UnitText(const std::string& unit) { return unit == kRankFromZero ? "rank" : unit; }

// Returns an element of an array as text. `offset` is added to numbers.
std::string Cell(const ArrayData& data, size_t index, int64_t offset = 0) {
  return std::visit(
      [&](const auto& values) -> std::string {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) return "'" + OneLine(values[index]) + "'";
        if constexpr (std::is_floating_point_v<T>) {
          return fmt::format("{:.5g}", values[index] + static_cast<T>(offset));
        }
        if constexpr (std::is_integral_v<T>) return std::to_string(values[index] + offset);
      },
      data);
}

// Returns a table whose columns are the arrays over the short axis `axis_name`.
TextTable AxisTable(const Record& record, const std::string& axis_name) {
  std::vector<const Array*> columns;
  for (const Array& array : record.arrays) {
    if (array.axes == std::vector{axis_name}) columns.push_back(&array);
  }
  std::vector<std::string> header = {axis_name};
  header.reserve(columns.size() + 1);
  for (const Array* column : columns) {
    header.push_back(column->unit.empty() ? column->name
                                          : column->name + " [" + UnitText(column->unit) + "]");
  }
  TextTable table(header);
  const Axis& axis = AxisOf(record, axis_name);
  for (int64_t i = 0; i < axis.size; ++i) {
    std::vector<std::string> row = {Place(axis, i)};
    for (const Array* column : columns) {
      row.push_back(Cell(column->data, static_cast<size_t>(i), PrintedOffset(*column)));
    }
    table.Add(row);
  }
  return table;
}

// Describes the element at an index: "layer 12, head 3".
std::string Where(const Record& record, const Array& array, int64_t index) {
  std::string text;
  for (size_t i = array.axes.size(); i-- > 0;) {
    const Axis& axis = AxisOf(record, array.axes[i]);
    if (!text.empty()) text.insert(0, ", ");
    text.insert(0, axis.name + " " + Place(axis, index % axis.size));
    index /= axis.size;
  }
  return text;
}

template <typename T>
std::string Extremes(const Record& record, const Array& array, const std::vector<T>& values) {
  double sum = 0;
  int64_t count = 0;
  int64_t least = -1;
  int64_t largest = -1;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
    if (least < 0 || values[i] < values[static_cast<size_t>(least)])
      least = static_cast<int64_t>(i);
    if (largest < 0 || values[i] > values[static_cast<size_t>(largest)])
      largest = static_cast<int64_t>(i);
  }
  if (count == 0) return ": no values";
  if (values[static_cast<size_t>(least)] == values[static_cast<size_t>(largest)])
    return fmt::format(
        ": all {:.5g}",
        PrintedOffset(array) + static_cast<double>(values[static_cast<size_t>(largest)]));
  const auto offset = static_cast<double>(PrintedOffset(array));
  return fmt::format(": mean {:.5g}, least {:.5g}, largest {:.5g} at {}",
                     offset + sum / static_cast<double>(count),
                     offset + static_cast<double>(values[static_cast<size_t>(least)]),
                     offset + static_cast<double>(values[static_cast<size_t>(largest)]),
                     Where(record, array, largest));
}

// Returns whether an array's last axis is layer, after another axis, without heads: [place, layer].
bool IsOverLayers(const Array& array) {
  return array.axes.size() > 1 && array.axes.back() == "layer";
}

// Lists the heads with the largest of the values that begin at index `begin`, "L23H2 0.25, L24H1
// 0.21"; for an array over layers, the largest layers, "L23 0.25, L24 0.21".
template <typename T>
std::string LargestHeads(const Record& record, const Array& array, const std::vector<T>& values,
                         size_t begin, size_t top) {
  const Axis& layers = AxisOf(record, "layer");
  const Axis* heads = IsOverHeads(array) ? &AxisOf(record, "head") : nullptr;
  const int64_t per_layer = heads ? heads->size : 1;
  std::vector<size_t> order;
  for (size_t i = 0; i < static_cast<size_t>(layers.size * per_layer); ++i) {
    if (!std::isnan(static_cast<double>(values[begin + i]))) order.push_back(i);
  }
  const size_t shown = std::min(top, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](size_t a, size_t b) {
                      const T left = values[begin + a];
                      const T right = values[begin + b];
                      return left != right ? left > right : a < b;
                    });
  order.resize(shown);
  std::string text;
  for (const size_t i : order) {
    const auto head = static_cast<int64_t>(i);
    text += (text.empty() ? "L" : ", L") + Place(layers, head / per_layer);
    if (heads) text += "H" + Place(*heads, head % per_layer);
    text += " " + Cell(values, begin + i, PrintedOffset(array));
  }
  return text.empty() ? "no values" : text;
}

constexpr int64_t kMostHeadLines = 12;

// Number of lines that list heads or layers of an array: 1 for [layer, head], one per index of a
// short axis before these axes, 0 for other arrays.
int64_t HeadLines(const Record& record, const Array& array) {
  const bool ranked = array.unit == kRankFromZero;  // for ranks, the smallest are the best
  const size_t own = IsOverHeads(array) ? 2 : IsOverLayers(array) ? 1 : 0;  // axes of a line
  if (ranked || own == 0 || !IsMeasured(array) || array.axes.size() > own + 1) return 0;
  const int64_t lines =
      array.axes.size() > own ? AxisOf(record, array.axes.front()).size : int64_t{1};
  return lines <= kMostHeadLines ? lines : 0;
}

// Lists the largest heads or layers, one line per index of the axis before them.
std::string HeadsText(const Record& record, const Array& array, size_t top) {
  const int64_t lines = HeadLines(record, array);
  const auto stride = static_cast<size_t>(ElementCount(array.data) / std::max<int64_t>(1, lines));
  std::string text;
  for (int64_t line = 0; line < lines; ++line) {
    text += "    ";
    if (array.axes.size() > (IsOverHeads(array) ? 2 : 1)) {
      const Axis& axis = AxisOf(record, array.axes.front());
      text += axis.name + " " + Place(axis, line) + ": ";
    }
    text += std::visit(
        [&](const auto& values) -> std::string {
          using T = typename std::decay_t<decltype(values)>::value_type;
          if constexpr (std::is_arithmetic_v<T>) {
            return LargestHeads(record, array, values, static_cast<size_t>(line) * stride, top);
          } else {
            return "";
          }
        },
        array.data);
    text += "\n";
  }
  return text;
}

// Returns a line with the array's shape and, for measured numbers, the mean, the extremes and the
// largest heads.
std::string Line(const Record& record, const Array& array, size_t top) {
  std::string shape;
  for (const std::string& name : array.axes) {
    shape += fmt::format("{}{} {}", shape.empty() ? "" : ", ", name, AxisOf(record, name).size);
  }
  std::string text = "  " + array.name + " [" + shape + "]";
  if (!array.unit.empty()) text += " in " + UnitText(array.unit);
  if (!IsMeasured(array)) return text + "\n";
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<T>) text += Extremes(record, array, values);
      },
      array.data);
  return text + "\n" + HeadsText(record, array, top);
}

std::string AttributeText(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          const std::string shown = DisplayText(value);
          return shown.size() > kLongestText ? fmt::format("({} bytes)", value.size()) : shown;
        } else if constexpr (std::is_same_v<T, double>) {
          return fmt::format("{:.6g}", value);
        } else {
          return std::to_string(value);
        }
      },
      attribute);
}

// Describes the axes of size 1: "layer 12, head 3".
std::string FixedPlaces(const Record& record, const Array& array) {
  std::string text;
  for (const std::string& name : array.axes) {
    const Axis& axis = AxisOf(record, name);
    if (axis.size != 1) continue;
    text += (text.empty() ? "" : ", ") + name + " " + Place(axis, 0);
  }
  return text;
}

}  // namespace

std::string ArrayText(const Record& record, const Array& array, size_t top) {
  std::vector<const Axis*> axes;
  for (const std::string& name : array.axes) {
    if (AxisOf(record, name).size != 1) axes.push_back(&AxisOf(record, name));
  }
  if (axes.size() > 2 || ElementCount(array.data) > kLargestMatrix) {
    return TerminalText(Line(record, array, top)) +
           "  see a part with --slice, or all with midscope export\n";
  }
  const std::string fixed = FixedPlaces(record, array);
  std::string text = record.name + "/" + array.name;
  if (!array.unit.empty()) text += " [" + UnitText(array.unit) + "]";
  if (!fixed.empty()) text += " at " + fixed;
  if (!array.description.empty()) text += ": " + array.description;
  const int64_t columns = axes.size() == 2 ? axes[1]->size : 1;
  const int64_t rows = axes.empty() ? 1 : axes[0]->size;
  std::vector<std::string> header = {axes.empty() ? "" : axes[0]->name};
  for (int64_t column = 0; column < columns; ++column) {
    header.push_back(axes.size() == 2 ? axes[1]->name + " " + Place(*axes[1], column) : "value");
  }
  TextTable table(header);
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells = {axes.empty() ? "" : Place(*axes[0], row)};
    for (int64_t column = 0; column < columns; ++column) {
      cells.push_back(
          Cell(array.data, static_cast<size_t>(row * columns + column), PrintedOffset(array)));
    }
    table.Add(cells);
  }
  return TerminalText(text + "\n" + table.Text());
}

std::string LargestHeadsText(const Record& record, const Array& array, size_t top) {
  if (HeadLines(record, array) == 0) return "";
  return record.name + "/" + array.name +
         (IsOverHeads(array) ? ", the largest heads:\n" : ", the largest layers:\n") +
         HeadsText(record, array, top);
}

Printout RecordTables(const Record& record, size_t top) {
  Printout text;
  for (const auto& [name, value] : record.attributes) {
    text += "  " + name + " " + AttributeText(value) + "\n";
  }
  std::vector<std::string> tables;  // axes whose tables have been printed
  for (const Array& array : record.arrays) {
    const bool in_table =
        array.axes.size() == 1 && AxisOf(record, array.axes.front()).size <= kLongestTable;
    if (!in_table) {
      text += Line(record, array, top);
    } else if (std::find(tables.begin(), tables.end(), array.axes.front()) == tables.end()) {
      tables.push_back(array.axes.front());
      text.Add(record.name + " by " + array.axes.front(), AxisTable(record, array.axes.front()));
    }
  }
  return text;
}

std::string RecordText(const Record& record, size_t top) {
  return TerminalText(record.name + ":\n" + RecordTables(record, top).Text());
}

nlohmann::ordered_json RecordJson(const Record& record) {
  std::ostringstream text;
  WriteJson({record}, {}, text);
  return nlohmann::ordered_json::parse(text.str())["records"][0];
}

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace midscope::cli

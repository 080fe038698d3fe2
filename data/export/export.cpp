// SPDX-License-Identifier: MIT
#include "data/export/export.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record.h"
#include "data/store/sample_rows.h"

namespace midscope {
namespace {

template <typename T>
std::string NumberText(T value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

std::string JsonText(const std::string& text) {
  // Replaces invalid UTF-8 with U+FFFD, because a token's text may be only part of a character.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Returns one array element as JSON (NaN: null) or, if `json` is false, as CSV (NaN: empty).
std::string ElementText(const ArrayData& data, size_t index, bool json) {
  return std::visit(
      [&](const auto& values) -> std::string {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          return json ? JsonText(values[index]) : CsvCell(values[index]);
        } else if constexpr (std::is_same_v<T, uint8_t>) {
          return values[index] ? "true" : "false";
        } else if constexpr (std::is_floating_point_v<T>) {
          if (json && !std::isfinite(values[index])) return "null";
          return std::isnan(values[index]) ? "" : NumberText(values[index]);
        } else {
          return NumberText(values[index]);
        }
      },
      data);
}

std::string PlaceText(const Axis& axis, int64_t place) {
  const auto index = static_cast<size_t>(place);
  if (!axis.labels.empty()) return CsvCell(axis.labels[index]);
  return axis.values.empty() ? NumberText(place) : NumberText(axis.values[index]);
}

std::vector<const Axis*> AxesOf(const Record& record, const Array& array) {
  std::vector<const Axis*> axes;
  for (const std::string& name : array.axes) axes.push_back(record.FindAxis(name));
  return axes;
}

void WriteCsvArray(const Record& record, const Array& array, const std::vector<Axis>& columns,
                   std::ostream& out) {
  const std::vector<const Axis*> axes = AxesOf(record, array);
  std::vector<int64_t> places(axes.size(), 0);
  const auto count = static_cast<size_t>(ElementCount(array.data));
  for (size_t element = 0; element < count; ++element) {
    out << CsvCell(array.name);
    for (const Axis& column : columns) {
      out << ',';
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i]->name == column.name) out << PlaceText(*axes[i], places[i]);
      }
    }
    out << ',' << ElementText(array.data, element, false) << "\r\n";
    for (size_t i = axes.size(); i-- > 0;) {
      if (++places[i] < axes[i]->size) break;
      places[i] = 0;
    }
  }
}

// Returns the axis if the record has two or more arrays and all have only this one axis; otherwise
// null (the CSV file is then in long form, one row per element).
const Axis* CommonAxis(const Record& record) {
  if (record.arrays.size() < 2 || record.arrays.front().axes.size() != 1) return nullptr;
  const std::vector<std::string>& axes = record.arrays.front().axes;
  const bool common = std::all_of(record.arrays.begin(), record.arrays.end(),
                                  [&](const Array& array) { return array.axes == axes; });
  return common ? record.FindAxis(axes.front()) : nullptr;
}

void WriteCsvTable(const Record& record, const Axis& axis, std::ostream& out) {
  out << CsvCell(axis.name);
  for (const Array& array : record.arrays) out << ',' << CsvCell(array.name);
  out << "\r\n";
  for (int64_t place = 0; place < axis.size; ++place) {
    out << PlaceText(axis, place);
    for (const Array& array : record.arrays) {
      out << ',' << ElementText(array.data, static_cast<size_t>(place), false);
    }
    out << "\r\n";
  }
}

// Writes an array as nested JSON lists, outermost axis first.
void WriteNested(const ArrayData& data, const std::vector<const Axis*>& axes, size_t depth,
                 size_t& element, std::ostream& out) {
  if (depth == axes.size()) {
    out << ElementText(data, element++, true);
    return;
  }
  out << '[';
  for (int64_t place = 0; place < axes[depth]->size; ++place) {
    if (place > 0) out << ',';
    WriteNested(data, axes, depth + 1, element, out);
  }
  out << ']';
}

template <typename T, typename WriteItem>
void WriteList(const std::vector<T>& items, std::ostream& out, const WriteItem& write_item) {
  out << '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out << ',';
    write_item(items[i]);
  }
  out << ']';
}

void WriteTexts(const std::vector<std::string>& texts, std::ostream& out) {
  WriteList(texts, out, [&](const std::string& text) { out << JsonText(text); });
}

void WriteAxis(const Axis& axis, std::ostream& out) {
  out << "{\"name\":" << JsonText(axis.name) << ",\"size\":" << axis.size
      << ",\"unit\":" << JsonText(axis.unit);
  if (!axis.labels.empty()) {
    out << ",\"labels\":";
    WriteTexts(axis.labels, out);
  }
  if (!axis.values.empty()) {
    out << ",\"values\":";
    WriteList(axis.values, out,
              [&](double value) { out << (std::isfinite(value) ? NumberText(value) : "null"); });
  }
  out << '}';
}

void WriteArray(const Record& record, const Array& array, std::ostream& out) {
  const std::vector<const Axis*> axes = AxesOf(record, array);
  out << "{\"name\":" << JsonText(array.name) << ",\"axes\":";
  WriteTexts(array.axes, out);
  out << ",\"shape\":";
  WriteList(axes, out, [&](const Axis* axis) { out << axis->size; });
  out << ",\"unit\":" << JsonText(array.unit) << ",\"description\":" << JsonText(array.description)
      << ",\"data\":";
  size_t element = 0;
  WriteNested(array.data, axes, 0, element, out);
  out << '}';
}

void WriteAttributes(const std::map<std::string, Attribute>& attributes, std::ostream& out) {
  out << '{';
  bool first = true;
  for (const auto& [name, value] : attributes) {
    out << (first ? "" : ",") << JsonText(name) << ':';
    first = false;
    if (const auto* text = std::get_if<std::string>(&value)) {
      out << JsonText(*text);
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
      out << *whole;
    } else {
      const double real = std::get<double>(value);
      out << (std::isfinite(real) ? NumberText(real) : "null");
    }
  }
  out << '}';
}

}  // namespace

void WriteCsv(const Record& record, std::ostream& out) {
  record.Check();
  if (const Axis* axis = CommonAxis(record)) {
    WriteCsvTable(record, *axis, out);
    return;
  }
  std::vector<Axis> columns;
  for (const Axis& axis : record.axes) {
    const bool used = std::any_of(record.arrays.begin(), record.arrays.end(),
                                  [&](const Array& array) { return HasAxis(array, axis.name); });
    if (used) columns.push_back(axis);
  }
  out << "array";
  for (const Axis& column : columns) out << ',' << CsvCell(column.name);
  out << ",value\r\n";
  for (const Array& array : record.arrays) WriteCsvArray(record, array, columns, out);
}

void WriteJson(const std::vector<Record>& records, const Provenance& provenance, std::ostream& out,
               const std::string& more) {
  std::map<std::string, Attribute> fields;
  ForEachField(provenance, [&](const char* name, const auto& value) { fields[name] = value; });
  out << "{\"provenance\":";
  WriteAttributes(fields, out);
  out << ",\"records\":";
  WriteList(records, out, [&](const Record& record) {
    record.Check();
    out << "{\"name\":" << JsonText(record.name) << ",\"attributes\":";
    WriteAttributes(record.attributes, out);
    out << ",\"signal\":" << JsonText(record.signal) << ",\"axes\":";
    WriteList(record.axes, out, [&](const Axis& axis) { WriteAxis(axis, out); });
    out << ",\"arrays\":";
    WriteList(record.arrays, out, [&](const Array& array) { WriteArray(record, array, out); });
    out << '}';
  });
  if (!more.empty()) out << ',' << more;
  out << "}\n";
}

namespace {

[[noreturn]] void Refuse(const Array& array, const std::string& reason) {
  throw UsageError("array '" + array.name + "'", reason,
                   "Give --array with one of [layer, channel], such as position_direction");
}

// Returns the array's axes with more than one element, and axis `layer` of any size.
std::vector<const Axis*> LongAxes(const Record& record, const Array& array) {
  std::vector<const Axis*> axes;
  for (const std::string& name : array.axes) {
    const Axis* axis = record.FindAxis(name);
    if (axis->size != 1 || name == "layer") axes.push_back(axis);
  }
  return axes;
}

std::vector<float> Floats(const Array& array) {
  return std::visit(
      [&](const auto& values) -> std::vector<float> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_floating_point_v<T>) {
          return {values.begin(), values.end()};
        } else {
          Refuse(array, "it must contain real numbers");
        }
      },
      array.data);
}

}  // namespace

ControlVector ControlVectorOf(const Record& record, const std::string& model_hint) {
  const Array& array = record.arrays.front();
  if (record.arrays.size() > 1) Refuse(array, "it is not the only one in the file");
  const std::vector<const Axis*> axes = LongAxes(record, array);
  if (axes.size() != 2 || axes.front()->name != "layer")
    Refuse(array, "a control vector has one direction a layer, and this is not [layer, channel]");
  const std::vector<float> values = Floats(array);
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
    Refuse(array, "it holds a number that is not finite");
  const auto width = static_cast<size_t>(axes.back()->size);
  ControlVector vector{model_hint, {}};
  for (size_t i = 0; i < static_cast<size_t>(axes.front()->size); ++i) {
    const auto& numbers = axes.front()->values;
    const auto layer = numbers.empty() ? static_cast<int64_t>(i) : std::llround(numbers[i]);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * width);
    if (layer > 0)
      vector.directions[layer].assign(first, first + static_cast<std::ptrdiff_t>(width));
  }
  if (vector.directions.empty()) Refuse(array, "it has only layer 0, which llama.cpp does not use");
  return vector;
}

}  // namespace midscope

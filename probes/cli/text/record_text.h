// SPDX-License-Identifier: MIT
// Formats records and their arrays as text and JSON.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/record.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {

// Number of heads that are listed for an array over layers and heads.
inline constexpr size_t kHeadsShown = 10;

// Returns a record's name, attributes, a table of the arrays over one short axis, and for every
// other array its shape and, if its numbers are measured (core/base/record.h), the mean, the
// smallest and largest value with their indices, and the `top` largest heads. Ranks that count from
// 0 are printed from 1.
std::string RecordText(const Record& record, size_t top = kHeadsShown);

// Returns the text of RecordText without the record's name, with tables as separate blocks.
Printout RecordTables(const Record& record, size_t top = kHeadsShown);

// Returns all values of an array as a table over its axes with more than one index. For arrays with
// more than two such axes or more than 4,096 elements, returns the text of RecordText and a hint
// how to print a part.
std::string ArrayText(const Record& record, const Array& array, size_t top = kHeadsShown);

// Returns a list of the `top` heads with the largest values of an array over layers and heads; if
// the array has one more, short axis, one list per index of that axis; "" for other arrays.
std::string LargestHeadsText(const Record& record, const Array& array, size_t top);

// Returns the record as JSON, as `midscope export` writes it.
nlohmann::ordered_json RecordJson(const Record& record);

// Returns JSON as text with a line end; bytes that are not UTF-8 are replaced.
std::string JsonText(const nlohmann::ordered_json& json);

// Returns the value of a record's attribute, which must exist and have that type.
template <typename T>
const T& Value(const Record& record, const std::string& attribute) {
  return std::get<T>(record.attributes.at(attribute));
}

// Returns null for NaN and infinities, which JSON lacks.
inline nlohmann::ordered_json NumberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// A record as text.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/record.h"

namespace midscope::cli {

// Number of heads listed of an array over layers and heads.
inline constexpr size_t kHeadsShown = 10;

// Name, attributes, a table of the arrays over one short axis, and for every other array its shape
// and, where its numbers are measured (data/store/stored_arrays.h), mean, smallest and largest
// value with index, and the `top` largest heads. Ranks that count from 0 are printed from 1.
std::string RecordText(const Record& record, size_t top = kHeadsShown);

// One array with all its values: a table of rows and columns, over the axes with more than one
// index. For arrays over more than two such axes, or with more than 4,096 elements, the text of
// RecordText and how to print a part.
std::string ArrayText(const Record& record, const Array& array, size_t top = kHeadsShown);

// The `top` largest heads of an array over layers and heads, or for each index of one short axis;
// "" for other arrays.
std::string LargestHeadsText(const Record& record, const Array& array, size_t top);

// As midscope export writes it.
nlohmann::ordered_json RecordJson(const Record& record);

// With a line end; bytes that are not UTF-8 are replaced.
std::string JsonText(const nlohmann::ordered_json& json);

// Values of records for commands' output.

// The value of an attribute that must exist with that type.
template <typename T>
const T& Value(const Record& record, const std::string& attribute) {
  return std::get<T>(record.attributes.at(attribute));
}

// JSON has no NaN.
inline nlohmann::ordered_json NumberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace midscope::cli

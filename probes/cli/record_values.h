// SPDX-License-Identifier: MIT
// Values of records for commands' output.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/base/record.h"

namespace midscope::cli {

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

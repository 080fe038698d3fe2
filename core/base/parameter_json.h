// SPDX-License-Identifier: MIT
// Conversion between parameter values and JSON. Internal to Midscope: plugins do not see the JSON
// library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/parameter.h"

namespace midscope {

// Returns null for an empty value.
nlohmann::ordered_json ParameterJson(const ParameterValue& value);

// A kNumber also accepts a number without a fraction; `true` gives value_if_bare if the parameter
// has one. Throws Error (usage) in the same cases as ReadValue; does not check the range.
ParameterValue ReadJsonValue(const Parameter& parameter, const nlohmann::ordered_json& json,
                             const std::string& thing);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Values of parameters in JSON. Internal to Midscope: plugins do not see the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/parameter.h"

namespace midscope {

// null for no value.
nlohmann::ordered_json ParameterJson(const ParameterValue& value);

// A number that is written without a fraction may also set a kNumber; `true` sets value_if_bare
// where there is one. Throws Error (usage) as ReadValue does; the range is not checked yet.
ParameterValue ReadJsonValue(const Parameter& parameter, const nlohmann::ordered_json& json,
                             const std::string& thing);

}  // namespace midscope

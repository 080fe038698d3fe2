// SPDX-License-Identifier: MIT
#include "core/base/parameter_json.h"

#include <algorithm>

namespace midscope {

using Json = nlohmann::ordered_json;

Json ParameterJson(const ParameterValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

ParameterValue ReadJsonValue(const Parameter& parameter, const Json& json,
                             const std::string& thing) {
  if (json.is_boolean() && json.get<bool>() && !parameter.value_if_bare.empty())
    return parameter.value_if_bare;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number() && parameter.kind == ParameterKind::kNumber) return json.get<double>();
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)
      throw BadValue(parameter, json.dump(), thing);
    return json.get<int64_t>();
  }
  if (json.is_string()) return ChoiceNamed(parameter, json.get<std::string>());
  if (json.is_array() && parameter.kind == ParameterKind::kTextList &&
      std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_string(); })) {
    return json.get<std::vector<std::string>>();
  }
  throw BadValue(parameter, json.dump(-1, ' ', false, Json::error_handler_t::replace), thing);
}

}  // namespace midscope

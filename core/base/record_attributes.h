// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <variant>

#include "core/base/record.h"

namespace midscope {

// The text in an attribute of the record; "" where there is none of that name or it is a number.
inline std::string AttributeText(const Record& record, const std::string& name) {
  const auto found = record.attributes.find(name);
  if (found == record.attributes.end()) return "";
  const auto* text = std::get_if<std::string>(&found->second);
  return text ? *text : "";
}

}  // namespace midscope

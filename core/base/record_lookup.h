// SPDX-License-Identifier: MIT
// Records by name, and what their attributes hold.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// The text in an attribute of the record; "" where there is none of that name or it is a number.
inline std::string AttributeText(const Record& record, const std::string& name) {
  const auto found = record.attributes.find(name);
  if (found == record.attributes.end()) return "";
  const auto* text = std::get_if<std::string>(&found->second);
  return text ? *text : "";
}

// The first record of that name; null where there is none. Points into `records`.
inline const Record* FindRecord(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

}  // namespace midscope

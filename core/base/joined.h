// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// "a, b, c"; with `last` " and ": "a, b and c".
inline std::string Joined(const std::vector<std::string>& texts, std::string_view last = ", ") {
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) joined += i + 1 == texts.size() ? last : ", ";
    joined += texts[i];
  }
  return joined;
}

}  // namespace midscope

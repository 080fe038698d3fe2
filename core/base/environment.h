// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string>

namespace midscope {

// The value of an environment variable; empty where it is not set.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace midscope {

// Returns wall time in seconds, by a clock that is never set back.
inline double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace midscope

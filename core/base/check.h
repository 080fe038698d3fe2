// SPDX-License-Identifier: MIT
// Messages about bugs. The outermost handlers of programs and jobs use them for exceptions other
// than Error.
#pragma once

#include <string>

#include "kernels/check.h"

namespace midscope {

inline std::string BugProblem(const std::string& what) { return "internal error: " + what; }

inline std::string BugMessage(const std::string& what) {
  return BugProblem(what) + ". This is a bug in Midscope: report it with this text and the command";
}

}  // namespace midscope

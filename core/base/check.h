// SPDX-License-Identifier: MIT
// What a person reads about a bug: the outermost handlers of programs and jobs say it of exceptions
// that are no Error.
#pragma once

#include <string>

#include "kernels/check.h"

namespace midscope {

inline std::string BugProblem(const std::string& what) { return "internal error: " + what; }

inline std::string BugMessage(const std::string& what) {
  return BugProblem(what) + ". This is a bug in Midscope: report it with this text and the command";
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Whether the data of the Python package jieba is there, for tests that need it.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/environment.h"

namespace midscope::test {

inline constexpr const char* kWithoutJieba =
    "no data of jieba: set MIDSCOPE_JIEBA to the package's folder";

// As ChineseWords::Installed looks for it.
inline bool JiebaIsInstalled() {
  const std::string given = Environment("MIDSCOPE_JIEBA");
  const std::string folder = given.empty() ? "/usr/lib/python3/dist-packages/jieba" : given;
  return std::filesystem::exists(folder + "/dict.txt");
}

}  // namespace midscope::test

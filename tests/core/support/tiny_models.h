// SPDX-License-Identifier: MIT
// The models of tests/core/golden/tiny_models, for tests that get this folder's path from CMake.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace midscope::test {

// The names of all tiny models, sorted.
inline std::vector<std::string> TinyModelNames() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(MIDSCOPE_TESTS "/core/golden/tiny_models")) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string TinyModelFolder(const std::string& name) {
  return std::string(MIDSCOPE_TESTS
                     "/core/golden/tiny_models"
                     "/") +
         name;
}

// The path to open: the model's folder, or the GGUF file in it.
inline std::string TinyModelPath(const std::string& name) {
  const std::string gguf = TinyModelFolder(name) + "/model.gguf";
  return std::filesystem::exists(gguf) ? gguf : TinyModelFolder(name);
}

// Ids of tokens that all tiny models have.
inline std::vector<int32_t> SomeTinyIds(int64_t count) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i * 37 % 250);
  return ids;
}

}  // namespace midscope::test

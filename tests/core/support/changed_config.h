// SPDX-License-Identifier: MIT
// Configurations of tiny models with changed keys, for tests of which configurations are accepted
// and rejected.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/model/folder_model.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope::test {

// Writes the folder's config.json with changed keys; the value null removes a key, and "null" sets
// it to null.
inline void ChangeConfig(const TemporaryFolder& folder, const nlohmann::json& changes) {
  auto config = nlohmann::json::parse(folder.Read("config.json"));
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      config.erase(key);
    } else if (value == "null") {
      config[key] = nullptr;
    } else {
      config[key] = value;
    }
  }
  folder.Write("config.json", config.dump());
}

// The configuration of a tiny model with these changes.
inline ModelConfig ConfigWith(const std::string& name, const nlohmann::json& changes) {
  const TemporaryFolder folder(TinyModelFolder(name));
  ChangeConfig(folder, changes);
  return ReadFolderConfig(folder.path());
}

inline std::string ErrorWith(const std::string& name, const nlohmann::json& changes) {
  return ErrorMessage([&] { ConfigWith(name, changes); });
}

// The error message of opening the complete model with these changes.
inline std::string OpenErrorWith(const std::string& name, const nlohmann::json& changes) {
  const TemporaryFolder folder(TinyModelFolder(name));
  ChangeConfig(folder, changes);
  return ErrorMessage([&] { OpenFolderModel(folder.path()); });
}

// The layers that have attention.
inline std::vector<int64_t> AttendingLayers(const ModelConfig& config) {
  std::vector<int64_t> layers;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (config.HasAttention(layer)) layers.push_back(layer);
  }
  return layers;
}

}  // namespace midscope::test

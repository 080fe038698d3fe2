// SPDX-License-Identifier: MIT
// Parses names of the files of a split GGUF model: PREFIX-00001-of-00003.gguf (llama.cpp's
// llama_split_path).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct GgufShardName {
  std::string prefix;
  int64_t number = 0;  // 1 to count
  int64_t count = 0;

  // Returns the file name of another shard of the same model.
  std::string OfShard(int64_t shard) const;
};

// Returns nullopt if `file_name` (with or without folders before it) is not the name of a shard.
std::optional<GgufShardName> ParseGgufShardName(std::string_view file_name);

// Whether `file_name` names a shard after the first. Such a shard is read through the first.
bool IsLaterGgufShard(std::string_view file_name);

// Returns those of `files` that can be opened as a GGUF model, sorted; shards after the first are
// omitted.
std::vector<std::filesystem::path> GgufModelsAmong(std::vector<std::filesystem::path> files);

}  // namespace midscope

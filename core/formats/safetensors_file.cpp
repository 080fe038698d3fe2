// SPDX-License-Identifier: MIT
#include "core/formats/safetensors_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr int64_t kMaxIndexBytes = 32 << 20;
constexpr size_t kMaxShards = 4096;

// Tensor -> file, from the index.
using TensorPlaces = std::map<std::string, std::string, std::less<>>;

TensorPlaces ReadIndex(const std::filesystem::path& path) {
  const MemoryMap map(path);
  const std::string thing = path.string();
  if (map.size() > kMaxIndexBytes) {
    throw Failure(thing, fmt::format("is {} bytes long; an index has at most {}", map.size(),
                                     kMaxIndexBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(map.data()),
                              static_cast<size_t>(map.size()));
  CheckUtf8(thing, text);
  try {
    const nlohmann::json index = nlohmann::json::parse(text);
    return index.at("weight_map").get<TensorPlaces>();
  } catch (const nlohmann::json::exception& error) {
    throw Failure(thing,
                  "is not an index of safetensors files (" + DisplayText(error.what()) + ")");
  }
}

// The index comes with the model and is not trusted: it must not name paths outside the folder.
void CheckShardName(const std::string& name, const std::string& thing) {
  const bool plain = name.find('/') == std::string::npos && name.find('\\') == std::string::npos &&
                     name.find('\0') == std::string::npos && !name.starts_with('.') &&
                     name.ends_with(".safetensors");
  if (plain) return;
  throw Failure(thing, "it names the file " + Quote(name, 120) +
                           "; only files ending in .safetensors in the same folder are opened");
}

std::vector<std::string> SortedShards(const TensorPlaces& places, const std::string& thing) {
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : places) {
    CheckShardName(shard, thing);
    shards.insert(shard);
  }
  if (shards.empty() || shards.size() > kMaxShards) {
    throw Failure(thing, fmt::format("it names {} files", shards.size()));
  }
  return {shards.begin(), shards.end()};
}

std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  if (error) throw Failure(folder.string(), "can't be read (" + error.message() + ")");
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void RefuseMissing(const std::filesystem::path& folder) {
  for (const std::string& name : NamesIn(folder)) {
    if (IsPickleName(name)) RefusePickle(folder / name);
  }
  throw Failure(folder.string(), "has no model.safetensors and no model.safetensors.index.json",
                "Fetch the model's weights into this folder");
}

}  // namespace

bool IsPickleName(const std::string& name) {
  if (name == "pytorch_model.bin.index.json") return true;
  if (name.ends_with(".bin")) return name != "tokenizer.bin";
  return name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".pkl") ||
         name.ends_with(".ckpt");
}

void RefusePickle(const std::filesystem::path& path) {
  throw Failure(path.string(),
                "its weights are in Python's pickle format, which can run any program when it is "
                "opened, and so it is not opened",
                "Convert the model to safetensors where you trust it: in Python, "
                "transformers.AutoModelForCausalLM.from_pretrained(FOLDER)"
                ".save_pretrained(NEW_FOLDER), and its tokenizer likewise");
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& folder) {
  const std::filesystem::path single = folder / "model.safetensors";
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(single)) {
    maps_.emplace_back(single);
    tensors_ = ParseSafetensorsHeader(maps_.back().bytes(), single.string());
  } else if (std::filesystem::exists(index)) {
    OpenShards(folder, index);
  } else {
    RefuseMissing(folder);
  }
}

std::vector<std::string> ShardNames(const std::filesystem::path& index) {
  return SortedShards(ReadIndex(index), index.string());
}

void SafetensorsFile::OpenShards(const std::filesystem::path& folder,
                                 const std::filesystem::path& index) {
  for (const std::string& shard : ShardNames(index)) {
    const std::string path = (folder / shard).string();
    const MemoryMap& map = maps_.emplace_back(path);
    for (auto& [name, tensor] : ParseSafetensorsHeader(map.bytes(), path)) {
      tensors_.insert_or_assign(name, tensor);
    }
  }
}

void SafetensorsFile::DontNeed(const std::byte* data, int64_t bytes) const noexcept {
  DontNeedInside(maps_, data, bytes);
}

}  // namespace midscope

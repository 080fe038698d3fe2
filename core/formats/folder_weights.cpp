// SPDX-License-Identifier: MIT
#include "core/formats/folder_weights.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/formats/torch_file.h"

namespace midscope {
namespace {

constexpr int64_t kMaxIndexBytes = 32 << 20;
constexpr size_t kMaxShards = 4096;

// The contents of an index: maps a tensor's name to its file.
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
    throw Failure(thing, "is not an index of weight files (" + DisplayText(error.what()) + ")");
  }
}

// Throws Error if a name in an index is not a plain file name. An index is not trusted: it must not
// name paths outside the folder.
void CheckShardName(const std::string& name, const std::string& ending, const std::string& thing) {
  const bool plain = name.find('/') == std::string::npos && name.find('\\') == std::string::npos &&
                     name.find('\0') == std::string::npos && !name.starts_with('.') &&
                     name.ends_with(ending);
  if (plain) return;
  throw Failure(thing, "it names the file " + Quote(name, 120) + "; only files ending in " +
                           ending + " in the same folder are opened");
}

std::vector<std::string> SortedShards(const TensorPlaces& places,
                                      const std::filesystem::path& index) {
  const std::string thing = index.string();
  const bool pickled = index.filename() == kWeightNames[1].index;
  const std::string ending = kWeightNames[pickled ? 1 : 0].ending;
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : places) {
    CheckShardName(shard, ending, thing);
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
  if (error) throw Failure(folder.string(), "cannot be read (" + error.message() + ")");
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void RefuseMissing(const std::filesystem::path& folder) {
  int64_t shards = 0;
  for (const std::string& name : NamesIn(folder)) {
    if (IsPickleName(name)) RefusePickle(folder / name);
    if (name.ends_with(".safetensors")) ++shards;
  }
  if (shards > 0) {
    throw Failure(
        folder.string(),
        fmt::format("has {} safetensors files, but no model.safetensors.index.json, which "
                    "names the tensors of each",
                    shards),
        "Fetch that file into the folder, too");
  }
  throw Failure(folder.string(),
                "has no model.safetensors, pytorch_model.bin or index of such files",
                "Fetch the model's weights into this folder");
}

}  // namespace

bool IsWeightFileName(const std::string& name) {
  return name.starts_with("pytorch_model") && name.ends_with(".bin");
}

bool IsPickleName(const std::string& name) {
  if (IsWeightFileName(name)) return false;
  if (name.ends_with(".bin")) return name != "tokenizer.bin";
  return name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".pkl") ||
         name.ends_with(".ckpt");
}

void RefusePickle(const std::filesystem::path& path) {
  throw Failure(path.string(),
                "is a file in Python's pickle format, which can run any program when other "
                "software opens it; only weights named pytorch_model*.bin are read, without "
                "running anything",
                "Convert the model to safetensors where you trust it: in Python, "
                "transformers.AutoModelForCausalLM.from_pretrained(FOLDER)"
                ".save_pretrained(NEW_FOLDER), and its tokenizer likewise");
}

bool HasWeights(const std::filesystem::path& folder) {
  std::error_code error;
  return std::any_of(kWeightNames.begin(), kWeightNames.end(), [&](const WeightNames& names) {
    return std::filesystem::exists(folder / names.single, error) ||
           std::filesystem::exists(folder / names.index, error);
  });
}

FolderWeights::FolderWeights(const std::filesystem::path& folder) {
  for (const WeightNames& names : kWeightNames) {
    pickled_ = names.pickled;
    if (std::filesystem::exists(folder / names.single)) {
      tensors_ = OpenFile(folder / names.single);
      return;
    }
    if (std::filesystem::exists(folder / names.index)) {
      OpenShards(folder, folder / names.index);
      return;
    }
  }
  RefuseMissing(folder);
}

SafetensorsTensors FolderWeights::OpenFile(const std::filesystem::path& path) {
  const MemoryMap& map = maps_.emplace_back(path);
  if (!pickled_) return ParseSafetensorsHeader(map.bytes(), path.string());
  SafetensorsTensors tensors = ReadTorchFile(map.bytes(), path.string(), &copies_);
  map.DontNeed(0, map.size());  // gives back the pages of copied tensors
  return tensors;
}

int64_t FolderWeights::copied_bytes() const {
  int64_t bytes = 0;
  for (const std::vector<std::byte>& copy : copies_) bytes += static_cast<int64_t>(copy.size());
  return bytes;
}

std::vector<std::string> ShardNames(const std::filesystem::path& index) {
  return SortedShards(ReadIndex(index), index);
}

void FolderWeights::OpenShards(const std::filesystem::path& folder,
                               const std::filesystem::path& index) {
  for (const std::string& shard : ShardNames(index)) {
    for (auto& [name, tensor] : OpenFile(folder / shard)) tensors_.insert_or_assign(name, tensor);
  }
}

void FolderWeights::DontNeed(const std::byte* data, int64_t bytes) const noexcept {
  DontNeedInside(maps_, data, bytes);
}

}  // namespace midscope

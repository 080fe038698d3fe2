// SPDX-License-Identifier: MIT
// GGUF model files, versions 2 and 3, little-endian (format: docs/gguf.md of ggml-org/ggml). The
// whole header is checked when the file is opened; numbers are checked against the file's size
// before memory of that size is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/memory_map.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

struct GgufTensor {
  std::string name;
  std::vector<int64_t>
      shape;  // outermost first (the reverse of the file's order); 1 to 4 dimensions, each > 0
  kernels::BlockFormat format;
  const std::byte* data = nullptr;  // points into the file's map; aligned to at least 8 bytes
  int64_t bytes = 0;

  int64_t elements() const;
};

// Types of metadata values, numbered as in the file.
enum class GgufType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// Returns "uint32"; "unknown" for a number outside the enumeration.
std::string_view GgufTypeName(GgufType type);

// Location of a metadata value in the file. Its bounds were checked when the file was opened.
struct GgufValue {
  GgufType type;  // type of the elements if is_array
  bool is_array = false;
  int64_t count = 1;                // number of elements
  const std::byte* data = nullptr;  // the first element; unaligned
};

// An open GGUF model. Move-only. The tensors' data and all string views point into the maps, and
// are valid as long as this object exists; moving it keeps them valid.
class GgufFile {
 public:
  // If a model is split into several files (GgufShardName), `path` is the first; the others are
  // found by their names. Throws Error naming the file and the fault: missing, truncated (with the
  // number of missing bytes), not GGUF, unsupported version or byte order, unknown tensor type,
  // ranges that overlap or extend beyond the file, duplicate names; a shard other than the first,
  // shards that are missing or belong to another model.
  explicit GgufFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return maps_.front().path(); }
  std::string file_name() const { return path().filename().string(); }
  // Returns the mapped shards in order; one map if the model is not split.
  const std::vector<MemoryMap>& maps() const { return maps_; }
  uint32_t version() const { return version_; }

  // Returns the metadata keys in alphabetical order.
  std::vector<std::string> Keys() const;
  bool Has(std::string_view key) const { return FindValue(key) != nullptr; }
  const GgufValue* FindValue(std::string_view key) const;

  // The getters return the value of a metadata key; nullopt if it is absent. They throw Error if
  // the value has another type (all integer types are accepted) or is out of range.
  std::optional<int64_t> GetInt(std::string_view key) const;
  std::optional<double> GetFloat(std::string_view key) const;
  std::optional<bool> GetBool(std::string_view key) const;
  std::optional<std::string> GetString(std::string_view key) const;
  std::optional<std::vector<std::string_view>> GetStringArray(std::string_view key) const;
  std::optional<std::vector<bool>> GetBoolArray(std::string_view key) const;
  std::optional<std::vector<int64_t>> GetIntArray(std::string_view key) const;
  std::optional<std::vector<double>> GetFloatArray(std::string_view key) const;

  // Returns the tensors in the order of the files.
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* Find(std::string_view name) const;
  // Returns the tensor called `name`. Throws Error if there is none.
  const GgufTensor& Require(std::string_view name) const;

  // Gives the memory pages of a tensor back to the system; its bytes can still be read.
  void DontNeed(const std::byte* data, int64_t bytes) const noexcept;

 private:
  const GgufValue* FindTyped(std::string_view key, bool array, std::string_view wanted) const;
  void AddTensors(std::vector<GgufTensor> tensors);
  void OpenOtherShards(int64_t count);

  std::vector<MemoryMap> maps_;
  uint32_t version_ = 0;
  std::map<std::string, GgufValue, std::less<>> values_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t, std::less<>> tensor_indices_;
};

// The name of a file of a split GGUF model: PREFIX-00001-of-00003.gguf (llama.cpp's
// llama_split_path).
struct GgufShardName {
  std::string prefix;
  int64_t number = 0;  // 1 to count
  int64_t count = 0;

  // Returns the file name of another shard of the same model.
  std::string OfShard(int64_t shard) const;
};

// Parses a shard's name, with or without folders before it; nullopt if it is not one.
std::optional<GgufShardName> ParseGgufShardName(std::string_view file_name);

// Whether `file_name` names a shard after the first. Such a shard is read through the first.
bool IsLaterGgufShard(std::string_view file_name);

// Returns the GGUF models among `files`, sorted. Shards after the first are omitted.
std::vector<std::filesystem::path> GgufModelsAmong(std::vector<std::filesystem::path> files);

}  // namespace midscope

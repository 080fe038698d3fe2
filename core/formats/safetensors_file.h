// SPDX-License-Identifier: MIT
// The weights of a Hugging Face folder: model.safetensors, or the files that
// model.safetensors.index.json names, memory-mapped. Which tensors there are, the files say: as in
// transformers, an index that names others or leaves some out is not an error, and of two files
// with a tensor of one name the last counts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/memory_map.h"
#include "core/formats/safetensors_header.h"

namespace midscope {

// Move-only. Tensors' data point into the maps and are valid as long as this object.
class SafetensorsFile {
 public:
  // Throws Error: neither file exists (with the reason and a remedy where the weights are pickled),
  // an invalid header (safetensors_header.h), an index that names anything but files of this
  // folder.
  explicit SafetensorsFile(const std::filesystem::path& folder);

  const SafetensorsTensors& tensors() const { return tensors_; }
  // In the order of their names.
  const std::vector<MemoryMap>& maps() const { return maps_; }
  // Returns the pages of a tensor's bytes to the system; they can still be read.
  void DontNeed(const std::byte* data, int64_t bytes) const noexcept;

 private:
  void OpenShards(const std::filesystem::path& folder, const std::filesystem::path& index);

  std::vector<MemoryMap> maps_;
  SafetensorsTensors tensors_;
};

// The files that a model.safetensors.index.json names, sorted. Throws Error for an invalid index,
// and for names of anything but files in its own folder.
std::vector<std::string> ShardNames(const std::filesystem::path& index);

// Whether a file name is of weights in Python's pickle format.
bool IsPickleName(const std::string& name);
// Throws Error with the reason and a remedy.
[[noreturn]] void RefusePickle(const std::filesystem::path& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The weights of a Hugging Face folder, memory-mapped: model.safetensors, or the files that
// model.safetensors.index.json names; where there are none, pytorch_model.bin or the files that
// pytorch_model.bin.index.json names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/memory_map.h"
#include "core/formats/safetensors_header.h"

namespace midscope {

// Names of a folder's weights: one file, else an index of files that end so.
struct WeightNames {
  const char* single;
  const char* index;
  const char* ending;
  bool pickled;
};
// The preferred first, as in transformers.
inline constexpr std::array<WeightNames, 2> kWeightNames = {
    {{"model.safetensors", "model.safetensors.index.json", ".safetensors", false},
     {"pytorch_model.bin", "pytorch_model.bin.index.json", ".bin", true}}};

// Move-only. Tensors' data point into the maps and the copies and are valid as long as this object.
class FolderWeights {
 public:
  // Throws Error: none of these files exists (with the reason and a remedy where there are other
  // pickled files), an invalid file (safetensors_header.h, torch_file.h), an index that names
  // anything but a file of this folder, or that contradicts the files.
  explicit FolderWeights(const std::filesystem::path& folder);

  const SafetensorsTensors& tensors() const { return tensors_; }
  // In the order of their names.
  const std::vector<MemoryMap>& maps() const { return maps_; }
  // Whether they are of torch.save.
  bool pickled() const { return pickled_; }
  // Bytes of tensors that are not contiguous in the file.
  int64_t copied_bytes() const;
  // Returns the pages of a tensor's bytes to the system; they can still be read.
  void DontNeed(const std::byte* data, int64_t bytes) const noexcept;

 private:
  void OpenShards(const std::filesystem::path& folder, const std::filesystem::path& index);
  SafetensorsTensors OpenFile(const std::filesystem::path& path);

  bool pickled_ = false;
  std::vector<MemoryMap> maps_;
  std::deque<std::vector<std::byte>> copies_;
  SafetensorsTensors tensors_;
};

// Whether the folder has one of the files above.
bool HasWeights(const std::filesystem::path& folder);

// The files that such an index names, sorted. Throws Error for an invalid index,
// and for names of anything but files in its own folder.
std::vector<std::string> ShardNames(const std::filesystem::path& index);

// Whether a file name is of weights that torch.save wrote and that are read.
bool IsWeightFileName(const std::string& name);
// Whether a file name is of another file in Python's pickle format.
bool IsPickleName(const std::string& name);
// Throws Error with the reason and a remedy.
[[noreturn]] void RefusePickle(const std::filesystem::path& path);

}  // namespace midscope

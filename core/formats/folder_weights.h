// SPDX-License-Identifier: MIT
// The weights of a Hugging Face folder, memory-mapped: model.safetensors, else the files that
// model.safetensors.index.json names, else pytorch_model.bin, else the files that
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
#include "core/formats/safetensors.h"

namespace midscope {

// Names of weight files: a single file, or else an index of several files with this ending.
struct WeightNames {
  const char* single;
  const char* index;
  const char* ending;
  bool pickled;
};
// Supported file names in order of preference, as in transformers.
inline constexpr std::array<WeightNames, 2> kWeightNames = {
    {{"model.safetensors", "model.safetensors.index.json", ".safetensors", false},
     {"pytorch_model.bin", "pytorch_model.bin.index.json", ".bin", true}}};

// A folder's tensors. Move-only. Their data point into the maps and the copies, and are valid as
// long as this object exists.
class FolderWeights {
 public:
  // Opens a folder's weights. Throws Error if it has no supported files (with a remedy if there are
  // other pickled files), for an invalid file (safetensors.h, torch_file.h), and for an index that
  // names anything but a file of this folder or contradicts the files.
  explicit FolderWeights(const std::filesystem::path& folder);

  const SafetensorsTensors& tensors() const { return tensors_; }
  // Returns the mapped files, in the order of their names.
  const std::vector<MemoryMap>& maps() const { return maps_; }
  // Whether the files were written by torch.save.
  bool pickled() const { return pickled_; }
  // Returns the bytes of tensors that were copied because they are not contiguous in the file.
  int64_t copied_bytes() const;
  // Gives the memory pages of a tensor back to the system; its bytes can still be read.
  void DontNeed(const std::byte* data, int64_t bytes) const noexcept;

 private:
  void OpenShards(const std::filesystem::path& folder, const std::filesystem::path& index);
  SafetensorsTensors OpenFile(const std::filesystem::path& path);

  bool pickled_ = false;
  std::vector<MemoryMap> maps_;
  std::deque<std::vector<std::byte>> copies_;
  SafetensorsTensors tensors_;
};

// Whether the folder has weights under any of kWeightNames.
bool HasWeights(const std::filesystem::path& folder);

// Returns the names of the weight files in an index file (*.index.json), sorted. Throws Error for
// an invalid index, and for names of anything but files in the index's folder.
std::vector<std::string> ShardNames(const std::filesystem::path& index);

// Whether the name is that of supported weights written by torch.save: pytorch_model*.bin.
bool IsWeightFileName(const std::string& name);
// Whether the name is that of a pickle file that is not supported.
bool IsPickleName(const std::string& name);
// Throws the Error for a pickle file that is refused: the reason and a remedy.
[[noreturn]] void RefusePickle(const std::filesystem::path& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Reads the tensors of a file written by torch.save (pytorch_model.bin): a zip archive with the
// pickle of a state dict (torch_pickle.h) and one entry per storage (zip_directory.h). No code in
// the file is run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/safetensors.h"

namespace midscope {

// Returns the tensors of a file; `bytes`: the whole file. The tensors point into it and may share
// bytes; tensors that are not contiguous are copied to `copies`. Throws Error naming `thing` if it
// is not an archive of torch.save (including torch.save's format before version 1.6, TorchScript
// archives and big-endian data), and for a refused pickle, a storage whose entry is missing or has
// another size, and a tensor beyond its storage.
SafetensorsTensors ReadTorchFile(std::span<const std::byte> bytes, const std::string& thing,
                                 std::deque<std::vector<std::byte>>* copies);

// Contents of a file whose dictionary has integers and a dictionary of numbered tensors.
struct TorchContents {
  SafetensorsTensors tensors;                            // keyed by the integer in decimal
  std::map<std::string, int64_t, std::less<>> integers;  // TorchStateDict::integers
};

// Returns the tensors in the file's dictionary called `numbered`, and its integers. Arguments and
// errors as for ReadTorchFile.
TorchContents ReadTorchContents(std::span<const std::byte> bytes, const std::string& thing,
                                std::string_view numbered,
                                std::deque<std::vector<std::byte>>* copies);

}  // namespace midscope

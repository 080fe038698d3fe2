// SPDX-License-Identifier: MIT
// Reads the tensors of a file written by torch.save (pytorch_model.bin): a zip archive with the
// pickle of a state dict (torch_pickle.h) and one entry per storage (zip_directory.h). No code in
// the file is run.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/formats/safetensors_header.h"

namespace midscope {

// `bytes`: the whole file. The returned tensors point into it, and may share bytes; tensors that
// are not contiguous are copied to `copies`. Throws Error naming `thing` if it is not such an
// archive (including torch.save's format before version 1.6, TorchScript archives and big-endian
// data), and for a refused pickle, a storage whose entry is missing or has another size, and a
// tensor beyond its storage.
SafetensorsTensors ReadTorchFile(std::span<const std::byte> bytes, const std::string& thing,
                                 std::deque<std::vector<std::byte>>* copies);

}  // namespace midscope

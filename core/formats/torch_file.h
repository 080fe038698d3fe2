// SPDX-License-Identifier: MIT
// The tensors of a file that torch.save wrote (pytorch_model.bin): a zip archive with the pickle of
// a state dict (torch_pickle.h) and an entry for each storage (zip_directory.h). No code in it is
// run.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/formats/safetensors_header.h"

namespace midscope {

// `bytes`: the whole file. Tensors point into it, and may share bytes; those that are not
// contiguous are copied to `copies`. Throws Error naming `thing`: not such an archive (also the
// form without a zip archive that torch.save wrote before version 1.6, a TorchScript archive,
// big-endian data), a pickle that is refused, a storage whose entry is missing or has another size,
// a tensor beyond its storage.
SafetensorsTensors ReadTorchFile(std::span<const std::byte> bytes, const std::string& thing,
                                 std::deque<std::vector<std::byte>>* copies);

}  // namespace midscope

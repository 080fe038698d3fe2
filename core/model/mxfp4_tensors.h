// SPDX-License-Identifier: MIT
// Matrices of a Hugging Face folder in MXFP4, which lie there in two tensors: NAME_blocks (U8,
// [..., columns / 32, 16], elements 2i and 2i + 1 of a block in the low and high nibble of byte i)
// and NAME_scales (U8, [..., columns / 32], the exponents).
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/formats/safetensors_header.h"
#include "core/model/tensor_table.h"

namespace midscope {

// Takes such pairs out of `file` and puts NAME.mxfp4 [..., columns], as BlockType::kMXFP4 lies,
// into `tensors`; its bytes are copies in `data`. Calls `copied` with each tensor of the file that
// is not read any more. Throws Error naming `thing`: half of a pair, another dtype or shapes that
// do not fit.
void JoinMxfp4(const std::string& thing,
               const std::function<void(const SafetensorsTensor&)>& copied,
               SafetensorsTensors* file, FileTensors* tensors,
               std::deque<std::vector<std::byte>>* data);

}  // namespace midscope

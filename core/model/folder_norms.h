// SPDX-License-Identifier: MIT
// Norms with weights for each head that a Hugging Face folder keeps in a tensor per head:
// PREFIX.norms.0.weight, PREFIX.norms.1.weight, ..., each [head_dim] (StableLM).
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "core/model/tensor_table.h"

namespace midscope {

// Replaces them by PREFIX.weight [heads, head_dim]; its bytes are copies in `data`. Throws Error
// naming `thing`: heads that are left out, or of other shapes or dtypes than the first.
void JoinNormsOfHeads(const std::string& thing, FileTensors* tensors,
                      std::deque<std::vector<std::byte>>* data);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// One layer's compressive memory, as stored in a trace (compressive_memory.h). Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/intervention/intervention.h"

namespace midscope {

struct SegmentMemory {
  int64_t segment = 0;  // tokens
  MemoryUpdate update = MemoryUpdate::kLinear;
  int64_t rows = 0;     // rows 0 .. rows - 1 have been added
  at::Tensor matrix;    // [key_value_heads, head_dim, head_dim] float32; undefined while rows is 0
  at::Tensor key_sums;  // [key_value_heads, head_dim, 1] float32
};

}  // namespace midscope

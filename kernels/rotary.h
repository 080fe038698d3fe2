// SPDX-License-Identifier: MIT
// Rotary position embedding. Pair j of a head is (element j, element j + pairs): the half-split
// layout. Files with interleaved pairs (GGUF's llama) are permuted when they are read.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/types.h"

namespace midscope::kernels {

// cos and sin [rows, pairs], row-major; rotated are the first 2 * pairs elements of a head, the
// rest passes through.
struct RotaryView {
  const float* cos = nullptr;
  const float* sin = nullptr;
  int64_t pairs = 0;
};

// Fills cos and sin [rows, pairs] for real positions (first + row) / ratio: angle = position *
// inverse_frequency[pair], formed in double (a float32 angle is off by 0.01 rad near 2.6e5), both
// then multiplied by `magnitude` (YaRN's temperature; else 1).
void FillRotary(std::span<const double> inverse_frequency, double ratio, int64_t first,
                int64_t rows, double magnitude, float* cos, float* sin);

// As above, for the real positions positions[row] / ratio of `rows` rows, in any order.
void FillRotaryAt(std::span<const double> inverse_frequency, double ratio,
                  std::span<const double> positions, double magnitude, float* cos, float* sin);

// Rotates x [rows, heads, head_dim] into out (which may be x) by rows first .. first + rows - 1 of
// the table.
void Rotate(const ConstHeads& x, int64_t rows, int64_t heads, int64_t head_dim,
            const RotaryView& table, int64_t first, const Heads& out);

}  // namespace midscope::kernels

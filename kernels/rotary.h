// SPDX-License-Identifier: MIT
// Rotary position embedding. Pair j of a head is (element j, element j + pairs): the half-split
// layout. The rows of files with interleaved pairs (GGUF's llama) are permuted on reading.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/types.h"

namespace midscope::kernels {

// cos and sin [rows, pairs], row-major. The first 2 * pairs elements of a head are rotated; the
// rest is unchanged.
struct RotaryView {
  const float* cos = nullptr;
  const float* sin = nullptr;
  int64_t pairs = 0;
};

// Fills cos and sin [rows, pairs] for real positions (first + row) / ratio: angle = position *
// inverse_frequency[pair], computed in double (a float32 angle is wrong by 0.01 rad near 2.6e5).
// Both are then multiplied by `magnitude` (YaRN's temperature; otherwise 1).
void FillRotary(std::span<const double> inverse_frequency, double ratio, int64_t first,
                int64_t rows, double magnitude, float* cos, float* sin);

// Like FillRotary, for `rows` real positions positions[row] / ratio, in any order.
void FillRotaryAt(std::span<const double> inverse_frequency, double ratio,
                  std::span<const double> positions, double magnitude, float* cos, float* sin);

// Rotates x [rows, heads, head_dim] into out (which may be x) by rows first .. first + rows - 1 of
// the table.
void Rotate(const ConstHeads& x, int64_t rows, int64_t heads, int64_t head_dim,
            const RotaryView& table, int64_t first, const Heads& out);

}  // namespace midscope::kernels

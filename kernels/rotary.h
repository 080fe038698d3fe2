// SPDX-License-Identifier: MIT
// Rotary position embedding. Pair j of a head is (element j, element j + pairs): the half-split
// layout. Weight rows of files with interleaved pairs (GGUF's llama) are permuted on loading.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/types.h"

namespace midscope::kernels {

// View of a rotary table: cos and sin [rows, pairs], row-major. Rotates the first 2 * pairs
// elements of a head; the others are unchanged.
struct RotaryView {
  const float* cos = nullptr;
  const float* sin = nullptr;
  int64_t pairs = 0;
};

// Fills cos and sin [rows, pairs] for the (fractional) positions (first + row) / ratio: angle =
// position * inverse_frequency[pair], computed in double (a float32 angle is wrong by 0.01 rad near
// 2.6e5). Multiplies both by `magnitude` (YaRN's temperature; otherwise 1).
void FillRotary(std::span<const double> inverse_frequency, double ratio, int64_t first,
                int64_t rows, double magnitude, float* cos, float* sin);

// Fills cos and sin as FillRotary does, for `rows` positions positions[row] / ratio, in any order.
void FillRotaryAt(std::span<const double> inverse_frequency, double ratio,
                  std::span<const double> positions, double magnitude, float* cos, float* sin);

// Rotates x [rows, heads, head_dim] into out (which may be x) by rows first .. first + rows - 1 of
// `table`.
void Rotate(const ConstHeads& x, int64_t rows, int64_t heads, int64_t head_dim,
            const RotaryView& table, int64_t first, const Heads& out);

}  // namespace midscope::kernels

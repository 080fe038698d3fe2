// SPDX-License-Identifier: MIT
// Internal: rotates rows of a head and packs them as operands of an AttentionEngine; unpacks the
// output of an engine into rows.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/rotary.h"
#include "kernels/types.h"

namespace midscope::kernels {

// The source of a head's rows, and the layout for packing them.
struct PackSource {
  ConstHeads x;
  int64_t head = 0;
  int64_t head_dim = 0;
  int64_t pack = 1;                    // elements per item (AttentionEngine::pack)
  std::span<const float> weight = {};  // [head_dim] factors after rotation; empty: ones
};

// Returns the number of items (1 or 2 elements) along head_dim.
constexpr int64_t PackedSteps(int64_t head_dim, int64_t pack) {
  return (head_dim + pack - 1) / pack;
}

// Rotates rows first_row .. first_row + rows - 1 of a head by the rows of `table` from
// first_position on, multiplies them by `factor` and packs them into out [PackedSteps][width]
// items; rows beyond `rows` (<= width) are zero. `width` must be a multiple of 4. `work` holds
// width * PackedSteps floats.
void PackRows(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
              int64_t first_position, float factor, int64_t width, float* work, void* out);

// Packs value rows first_row .. first_row + rows - 1 into out [head_dim / kTile, rounded
// up][kKeyBlock / pack][kTile] items; later items are zero, up to a whole tile of keys. `work`
// holds 2 * (head_dim + kTile) floats.
void PackValues(const PackSource& source, int64_t first_row, int64_t rows, float* work, void* out);

// Rotates and packs rows as PackRows does, but into out [row][PackedSteps] items of bfloat16, for
// engines that read keys by rows. Leaves later rows of `out` unchanged.
void PackKeysByRows(const PackSource& source, int64_t first_row, int64_t rows,
                    const RotaryView& table, int64_t first_position, void* out);

// Packs value rows first_row .. first_row + rows - 1 into out [head_dim][kKeyBlock / 2] items of
// bfloat16; later items are zero. `work` holds ValueWork(head_dim) floats.
void PackValuesByElements(const PackSource& source, int64_t first_row, int64_t rows, float* work,
                          void* out);
int64_t ValueWork(int64_t head_dim);

// Unpacks an engine's output, from [head_dim][width], into rows first_row .. first_row + rows - 1
// of `out`. `width` must be a multiple of 4. `work` holds kUnpackedRows * head_dim floats.
inline constexpr int64_t kUnpackedRows = 8;
void UnpackRows(const float* from, int64_t width, int64_t rows, int64_t head_dim, const Heads& out,
                int64_t first_row, int64_t head, float* work);

}  // namespace midscope::kernels

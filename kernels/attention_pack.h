// SPDX-License-Identifier: MIT
// Internal: rotates and rearranges heads into the operands of an AttentionEngine, and its output
// back into rows.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/rotary.h"
#include "kernels/types.h"

namespace midscope::kernels {

// The source of a head's rows and their target layout.
struct PackSource {
  ConstHeads x;
  int64_t head = 0;
  int64_t head_dim = 0;
  int64_t pack = 1;                    // of the engine
  std::span<const float> weight = {};  // [head_dim] factors after rotation; empty: ones
};

// Items along head_dim.
constexpr int64_t PackedSteps(int64_t head_dim, int64_t pack) {
  return (head_dim + pack - 1) / pack;
}

// Rows first_row .. first_row + rows - 1 of x, rotated by rows first_position .. of `table` and
// times `factor`, into out [PackedSteps][width] items; rows beyond `rows` (<= width) are zero.
// `width` is a multiple of 4. `work` holds width * PackedSteps floats.
void PackRows(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
              int64_t first_position, float factor, int64_t width, float* work, void* out);

// Rows first_row .. first_row + rows - 1 of x into out [head_dim / kTile, rounded up][kKeyBlock /
// pack][kTile] items; what is beyond is zero up to a whole tile of keys. `work` holds 2 * (head_dim
// + kTile) floats.
void PackValues(const PackSource& source, int64_t first_row, int64_t rows, float* work, void* out);

// As PackRows, into out [row][PackedSteps] items of bfloat16, for engines that read keys by rows.
// Rows beyond are left alone.
void PackKeysByRows(const PackSource& source, int64_t first_row, int64_t rows,
                    const RotaryView& table, int64_t first_position, void* out);

// Rows first_row .. first_row + rows - 1 of x into out [head_dim][kKeyBlock / 2] items of bfloat16;
// what is beyond is zero. `work` holds ValueWork(head_dim) floats.
void PackValuesByElements(const PackSource& source, int64_t first_row, int64_t rows, float* work,
                          void* out);
int64_t ValueWork(int64_t head_dim);

// from [head_dim][width] into rows first_row .. first_row + rows - 1 of `out`. `width` is a
// multiple of 4. `work` holds kUnpackedRows * head_dim floats.
inline constexpr int64_t kUnpackedRows = 8;
void UnpackRows(const float* from, int64_t width, int64_t rows, int64_t head_dim, const Heads& out,
                int64_t first_row, int64_t head, float* work);

}  // namespace midscope::kernels

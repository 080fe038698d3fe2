// SPDX-License-Identifier: MIT
// A matrix of a quantised Hugging Face folder, stored as several tensors. In all schemes an element
// is scale * (level - zero): a level is an integer of a few bits, an 8-bit float or an entry of a
// table, and a group of elements shares a scale and a zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/formats/safetensors.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

// A matrix of integers of a few bits, packed in words. Element (r, c) is `bits` bits of word
// r * row_stride + c / n * column_stride, where n is the number of integers per word and c % n
// selects the bits; if packed along rows, of word r / n * row_stride + c * column_stride.
struct PackedIntegers {
  const std::byte* data = nullptr;
  int64_t word_bytes = 4;  // 4 (little-endian) or 1
  int64_t bits = 8;        // 4 or 8
  bool along_rows = false;
  int64_t row_stride = 0;                                   // in words
  int64_t column_stride = 1;                                // in words
  std::array<int64_t, 8> order = {0, 1, 2, 3, 4, 5, 6, 7};  // place within a word by r % n or c % n
  // An integer's value is ((bits + add) modulo 2^bits) - subtract.
  uint32_t add = 0;
  int32_t subtract = 0;

  // Writes the integers of a row, from column 0 on, to `out`.
  void Row(int64_t row, std::span<int32_t> out) const;

 private:
  uint32_t WordAt(int64_t index) const;
  int32_t Value(uint32_t word, int64_t shift) const {
    return static_cast<int32_t>(((word >> shift) + add) & ((1u << bits) - 1)) - subtract;
  }
};

struct QuantisedMatrix {
  std::string_view scheme;  // "GPTQ, 4 bits"
  int64_t rows = 0;
  int64_t columns = 0;
  PackedIntegers levels;
  std::vector<float> table;  // [2^bits]: the values of levels that are not integers; else empty
  // Columns g * group_columns to (g + 1) * group_columns are group g; if `group_of` [columns] is
  // not empty, it states each column's group instead.
  int64_t group_columns = 0;
  int64_t groups = 1;  // per row
  std::vector<int32_t> group_of;
  bool has_zeros = false;
  bool symmetric = false;  // the configuration states that all zeros are the middle level
  PackedIntegers zeros;    // [rows, groups]
  // Scale (r, g) is element r / scale_rows * row_stride + g * group_stride of `scales`, times
  // `factor`.
  SafetensorsTensor scales;  // F32, F16 or BF16; U8 if `scale_table` is not empty
  int64_t scale_rows = 1;
  int64_t scale_row_stride = 0;
  int64_t scale_group_stride = 0;
  float factor = 1;
  // If scales are quantised themselves, scale i is scale_table[i] * nested[i / nested_block] +
  // nested_offset.
  std::vector<float> scale_table;
  SafetensorsTensor nested;
  int64_t nested_block = 1;
  float nested_offset = 0;
  std::vector<SafetensorsTensor> parts;  // the file's tensors that store this matrix

  int64_t file_bytes() const;
  float Scale(int64_t row, int64_t group) const;
  // Dequantises one row to out [columns].
  void Row(int64_t row, float* out) const;

  // Returns the smallest format that holds every element exactly: Q4_0, Q8_0, else F32. Reads all
  // scales and zeros.
  kernels::BlockFormat ExactFormat() const;
  // Returns ExactFormat() for usual values of scales and zeros, without reading them.
  kernels::BlockFormat UsualFormat() const;
  // Writes one row to `out` in `format`: as whole blocks of ExactFormat(), or as F32.
  void Row(int64_t row, const kernels::BlockFormat& format, std::byte* out) const;

 private:
  std::vector<int32_t> Levels(int64_t row) const;  // [columns]
  std::vector<int32_t> Zeros(int64_t row) const;   // [groups]
};

}  // namespace midscope

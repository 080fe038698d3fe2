// SPDX-License-Identifier: MIT
#include "core/formats/quantised_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/types.h"

namespace midscope {
namespace {

using kernels::BlockFormat;
using kernels::BlockType;

constexpr int64_t kBlock = 32;  // elements per block of Q4_0 and Q8_0

BlockFormat FormatOf(BlockType type) {
  return *kernels::FindBlockFormat(static_cast<uint32_t>(type));
}

float NumberAt(const SafetensorsTensor& tensor, int64_t index) {
  if (tensor.dtype == "F32") {
    float value = 0;
    std::memcpy(&value, tensor.data + index * 4, sizeof value);
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, tensor.data + index * 2, sizeof bits);
  return tensor.dtype == "F16" ? ToFloat(kernels::Float16{bits}) : ToFloat(kernels::BFloat16{bits});
}

bool IsFloat16(float value) {
  return std::bit_cast<uint32_t>(ToFloat(kernels::ToFloat16(value))) ==
         std::bit_cast<uint32_t>(value);
}

// Returns the smallest block format for integers (level - zero) from `least` to `most`.
BlockType TypeOf(int64_t least, int64_t most) {
  if (least >= -8 && most <= 7) return BlockType::kQ4_0;
  return least >= -128 && most <= 127 ? BlockType::kQ8_0 : BlockType::kF32;
}

int64_t LeastLevel(const QuantisedMatrix& matrix) { return -matrix.levels.subtract; }
int64_t MostLevel(const QuantisedMatrix& matrix) {
  return (int64_t{1} << matrix.levels.bits) - 1 - matrix.levels.subtract;
}

bool HasBlocks(const QuantisedMatrix& matrix) {
  return matrix.table.empty() && matrix.group_of.empty() && matrix.scale_table.empty() &&
         matrix.group_columns % kBlock == 0;
}

}  // namespace

inline uint32_t PackedIntegers::WordAt(int64_t index) const {
  if (word_bytes == 1) return std::to_integer<uint32_t>(data[index]);
  uint32_t word = 0;
  std::memcpy(&word, data + index * word_bytes, sizeof word);
  return word;
}

void PackedIntegers::Row(int64_t row, std::span<int32_t> out) const {
  const int64_t count = word_bytes * 8 / bits;
  if (along_rows) {
    const int64_t shift = bits * order[static_cast<size_t>(row % count)];
    int64_t word = row / count * row_stride;
    for (int32_t& value : out) {
      value = Value(WordAt(word), shift);
      word += column_stride;
    }
    return;
  }
  int64_t place = count;
  int64_t next = row * row_stride;
  uint32_t word = 0;
  for (int32_t& value : out) {
    if (place == count) {
      place = 0;
      word = WordAt(next);
      next += column_stride;
    }
    value = Value(word, bits * order[static_cast<size_t>(place++)]);
  }
}

int64_t QuantisedMatrix::file_bytes() const {
  int64_t bytes = 0;
  for (const SafetensorsTensor& part : parts) bytes += part.bytes;
  return bytes;
}

float QuantisedMatrix::Scale(int64_t row, int64_t group) const {
  const int64_t index = row / scale_rows * scale_row_stride + group * scale_group_stride;
  if (scale_table.empty()) return NumberAt(scales, index) * factor;
  const auto entry = std::to_integer<size_t>(scales.data[index]);
  return scale_table[entry] * NumberAt(nested, index / nested_block) + nested_offset;
}

std::vector<int32_t> QuantisedMatrix::Levels(int64_t row) const {
  std::vector<int32_t> values(static_cast<size_t>(columns));
  levels.Row(row, values);
  return values;
}

std::vector<int32_t> QuantisedMatrix::Zeros(int64_t row) const {
  std::vector<int32_t> values(static_cast<size_t>(groups));
  if (has_zeros) zeros.Row(row, values);
  return values;
}

void QuantisedMatrix::Row(int64_t row, float* out) const {
  const std::vector<int32_t> level = Levels(row);
  const std::vector<int32_t> zero = Zeros(row);
  std::vector<float> scale(zero.size());
  for (int64_t group = 0; group < groups; ++group)
    scale[static_cast<size_t>(group)] = Scale(row, group);
  const auto compute = [&](int64_t column, size_t group) {
    const int32_t integer = level[static_cast<size_t>(column)];
    const float value = table.empty() ? static_cast<float>(integer - zero[group])
                                      : table[static_cast<size_t>(integer)];
    out[column] = scale[group] * value;
  };
  if (!group_of.empty()) {
    for (int64_t i = 0; i < columns; ++i)
      compute(i, static_cast<size_t>(group_of[static_cast<size_t>(i)]));
    return;
  }
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t end = std::min(columns, (group + 1) * group_columns);
    for (int64_t i = group * group_columns; i < end; ++i) compute(i, static_cast<size_t>(group));
  }
}

BlockFormat QuantisedMatrix::ExactFormat() const {
  if (!HasBlocks(*this)) return FormatOf(BlockType::kF32);
  int32_t least = std::numeric_limits<int32_t>::max();
  int32_t most = std::numeric_limits<int32_t>::min();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t group = 0; group < groups; ++group) {
      if (!IsFloat16(Scale(row, group))) return FormatOf(BlockType::kF32);
    }
    for (const int32_t zero : Zeros(row)) {
      least = std::min(least, zero);
      most = std::max(most, zero);
    }
  }
  return FormatOf(TypeOf(LeastLevel(*this) - most, MostLevel(*this) - least));
}

BlockFormat QuantisedMatrix::UsualFormat() const {
  if (!HasBlocks(*this) || scales.dtype == "F32") return FormatOf(BlockType::kF32);
  if (symmetric || !has_zeros)
    return FormatOf(levels.bits == 4 ? BlockType::kQ4_0 : BlockType::kQ8_0);
  return FormatOf(levels.bits == 4 ? BlockType::kQ8_0 : BlockType::kF32);
}

void QuantisedMatrix::Row(int64_t row, const BlockFormat& format, std::byte* out) const {
  if (format.type == BlockType::kF32) {
    Row(row, reinterpret_cast<float*>(out));
    return;
  }
  std::vector<int32_t> level = Levels(row);
  const std::vector<int32_t> zero = Zeros(row);
  for (int64_t first = 0; first < columns; first += kBlock, out += format.bytes) {
    const int64_t group = first / group_columns;
    const kernels::Float16 scale = kernels::ToFloat16(Scale(row, group));
    std::memcpy(out, &scale.bits, sizeof scale.bits);
    std::byte* to = out + sizeof scale.bits;
    int32_t* from = level.data() + first;
    for (int64_t i = 0; i < kBlock; ++i) from[i] -= zero[static_cast<size_t>(group)];
    if (format.type == BlockType::kQ4_0) {
      for (int64_t i = 0; i < kBlock / 2; ++i)
        to[i] = static_cast<std::byte>((from[i] + 8) | (from[i + kBlock / 2] + 8) << 4);
    } else {
      for (int64_t i = 0; i < kBlock; ++i) to[i] = static_cast<std::byte>(from[i]);
    }
  }
}

}  // namespace midscope

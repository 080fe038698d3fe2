// SPDX-License-Identifier: MIT
#include "core/formats/quantised_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/types.h"

namespace midscope {
namespace {

using kernels::BlockFormat;
using kernels::BlockType;

constexpr int64_t kBlock = 32;  // elements of Q4_0 and Q8_0

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

// Returns the format of levels - zero, which are from `least` to `most`.
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

uint32_t PackedIntegers::Raw(int64_t row, int64_t column) const {
  const int64_t count = word_bytes * 8 / bits;  // 1, 2, 4 or 8
  const int64_t packed = along_rows ? row : column;
  const int64_t row_word = along_rows ? row / count : row;
  const int64_t column_word = along_rows ? column : column / count;
  const std::byte* at = data + (row_word * row_stride + column_word * column_stride) * word_bytes;
  uint32_t word = 0;
  if (word_bytes == 1) {
    word = std::to_integer<uint32_t>(*at);
  } else {
    std::memcpy(&word, at, sizeof word);
  }
  const int64_t shift = bits * order[static_cast<size_t>(packed % count)];
  return ((word >> shift) + add) & ((1u << bits) - 1);
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

float QuantisedMatrix::Zero(int64_t row, int64_t group) const {
  return has_zeros ? static_cast<float>(zeros.At(row, group)) : 0;
}

void QuantisedMatrix::Row(int64_t row, float* out) const {
  std::vector<float> scale(static_cast<size_t>(groups));
  std::vector<float> zero(scale.size());
  for (int64_t group = 0; group < groups; ++group) {
    scale[static_cast<size_t>(group)] = Scale(row, group);
    zero[static_cast<size_t>(group)] = Zero(row, group);
  }
  for (int64_t column = 0; column < columns; ++column) {
    const auto group = static_cast<size_t>(
        group_of.empty() ? column / group_columns : group_of[static_cast<size_t>(column)]);
    const float level =
        table.empty() ? static_cast<float>(levels.At(row, column)) : table[levels.Raw(row, column)];
    out[column] = scale[group] * (level - zero[group]);
  }
}

BlockFormat QuantisedMatrix::ExactFormat() const {
  if (!HasBlocks(*this)) return FormatOf(BlockType::kF32);
  int64_t least = 0;
  int64_t most = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t group = 0; group < groups; ++group) {
      if (!IsFloat16(Scale(row, group))) return FormatOf(BlockType::kF32);
      if (!has_zeros) continue;
      const int64_t zero = zeros.At(row, group);
      const bool first = row == 0 && group == 0;
      least = first ? zero : std::min(least, zero);
      most = first ? zero : std::max(most, zero);
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
  std::vector<int32_t> differences(static_cast<size_t>(columns));
  for (int64_t column = 0; column < columns; ++column) {
    const int32_t zero = has_zeros ? zeros.At(row, column / group_columns) : 0;
    differences[static_cast<size_t>(column)] = levels.At(row, column) - zero;
  }
  for (int64_t first = 0; first < columns; first += kBlock, out += format.bytes) {
    const kernels::Float16 scale = kernels::ToFloat16(Scale(row, first / group_columns));
    std::memcpy(out, &scale.bits, sizeof scale.bits);
    std::byte* to = out + sizeof scale.bits;
    const int32_t* from = differences.data() + first;
    if (format.type == BlockType::kQ4_0) {
      for (int64_t i = 0; i < kBlock / 2; ++i)
        to[i] = static_cast<std::byte>((from[i] + 8) | (from[i + kBlock / 2] + 8) << 4);
    } else {
      for (int64_t i = 0; i < kBlock; ++i) to[i] = static_cast<std::byte>(from[i]);
    }
  }
}

}  // namespace midscope

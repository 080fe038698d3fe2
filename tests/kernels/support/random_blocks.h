// SPDX-License-Identifier: MIT
// Matrices of random blocks of any type with their values, and random numbers to multiply them
// with.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/quantised/dequantise.h"
#include "tests/kernels/support/block_scales.h"
#include "tests/kernels/support/guarded.h"

namespace midscope::kernels {

// A matrix of random blocks with padding bytes between its rows, and its exact values.
struct RandomMatrix {
  RandomMatrix(BlockFormat format, int64_t outputs, int64_t inputs, bool shuffled,
               unsigned seed = 1)
      : matrix{format.type, nullptr, inputs / format.elements * format.bytes + 3,
               {},          outputs, inputs} {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    bytes.resize(static_cast<size_t>(outputs * matrix.row_bytes + 1));
    for (char& byte : bytes) byte = static_cast<char>(random());
    matrix.data = bytes.data() + 1;
    for (int64_t row = 0; row < outputs; ++row) {
      char* at = bytes.data() + 1 + row * matrix.row_bytes;
      for (int64_t block = 0; block < inputs / format.elements; ++block) {
        Tame(format, at + block * format.bytes, normal(random), static_cast<uint16_t>(random()));
      }
      order.push_back(outputs - 1 - row);
    }
    if (shuffled) matrix.row_order = order;
    values.resize(static_cast<size_t>(outputs * inputs));
    DequantiseRows(matrix, Dtype::kFloat32, values.data(), SerialExecutor());
  }

  // Replaces infinities by ordinary numbers: sets the scale between 2^-6 and 2^-5, or sets the
  // element itself.
  static void Tame(const BlockFormat& format, char* block, float value, uint16_t mantissa) {
    const auto half = static_cast<uint16_t>(0x2400 | (mantissa & 0x83ff));
    const BFloat16 narrow = ToBFloat16(value);
    SetScales(format, block, half);
    if (format.type == BlockType::kMXFP4) *block = static_cast<char>(122 + mantissa % 2);
    if (format.type == BlockType::kF32) std::memcpy(block, &value, 4);
    if (format.type == BlockType::kF16) std::memcpy(block, &half, 2);
    if (format.type == BlockType::kBF16) std::memcpy(block, &narrow, 2);
  }

  BlockMatrix matrix;
  std::vector<char> bytes;
  std::vector<int64_t> order;
  std::vector<float> values;
};

inline Guarded RandomNumbers(int64_t count, Dtype dtype, unsigned seed) {
  Guarded numbers(count, dtype);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < count; ++i) numbers.Set(i, normal(random));
  return numbers;
}

}  // namespace midscope::kernels

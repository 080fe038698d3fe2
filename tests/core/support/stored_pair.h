// SPDX-License-Identifier: MIT
// A weight matrix made of two tensors with random blocks, and the expected products with it.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/compute/weight_matrix.h"
#include "core/model/model_source.h"
#include "tests/core/support/block_model.h"

namespace midscope::test {

inline constexpr int64_t kInputs = 512;
inline constexpr int64_t kOutputs[] = {37, 20};  // rows of the two tensors

// The rows of the first tensor are stored in another order than in the matrix.
struct StoredPair {
  explicit StoredPair(const kernels::BlockFormat& format) : StoredPair(format, format) {}
  StoredPair(const kernels::BlockFormat& one, const kernels::BlockFormat& other) {
    std::mt19937 random(7);
    for (const kernels::BlockFormat& format : {one, other}) {
      TensorRef tensor;
      tensor.format = format;
      tensor.rows = kOutputs[tensors.size()];
      tensor.columns = kInputs;
      tensor.row_bytes = kInputs / format.elements * format.bytes;
      bytes.push_back(RandomBlocks(format, tensor.rows, kInputs, random));
      tensors.push_back(tensor);
    }
    for (size_t i = 0; i < 2; ++i)
      tensors[i].data = reinterpret_cast<const std::byte*>(bytes[i].data());
    tensors[0].row_order.resize(static_cast<size_t>(kOutputs[0]));
    std::iota(tensors[0].row_order.rbegin(), tensors[0].row_order.rend(), 0);
  }

  WeightMatrix Matrix(kernels::Dtype dtype) const {
    return {"the file", {{"one", &tensors[0]}, {"other", &tensors[1]}}, dtype};
  }
  // [outputs, inputs] float64
  at::Tensor Numbers() const {
    return Matrix(kernels::Dtype::kFloat32).Rows(0, kOutputs[0] + kOutputs[1]).to(at::kDouble);
  }

  std::vector<std::string> bytes;
  std::vector<TensorRef> tensors;
};

// Random numbers [rows, columns] of the given dtype.
inline at::Tensor NumbersOf(int64_t rows, int64_t columns, at::ScalarType type) {
  return at::arange(rows * columns, at::kFloat).mul_(0.731f).sin_().view({rows, columns}).to(type);
}

// Checks MultiplyOnDevice on the device of x. The tolerance is float32 rounding of the sum; if y or
// an expanded matrix is bfloat16, also the rounding of weights and result.
inline void ExpectProduct(const WeightMatrix& matrix, const StoredPair& pair, const at::Tensor& x,
                          at::ScalarType y_type) {
  const at::Tensor y =
      at::full({x.size(0), matrix.outputs()}, std::nan(""), x.options().dtype(y_type));
  matrix.MultiplyOnDevice(x, y, {});
  const at::Tensor rows = x.to(at::kCPU, at::kDouble);
  const at::Tensor weights = pair.Numbers();
  const at::Tensor want = at::matmul(rows, weights.t());
  const at::Tensor size = at::matmul(rows.abs(), weights.abs().t());
  const bool exact =
      y_type == at::kFloat && (matrix.stored() || matrix.expanded().scalar_type() == at::kFloat);
  const double rounding = exact ? 1e-6 : 1.0 / 256;
  const at::Tensor difference = (y.to(at::kCPU, at::kDouble) - want).abs();
  EXPECT_TRUE(
      (difference <= size * rounding + want.abs() * (exact ? 0 : rounding)).all().item<bool>())
      << x.size(0) << " rows of " << x.scalar_type() << " to " << y_type << ": up to "
      << difference.max().item<double>();
}

}  // namespace midscope::test

// SPDX-License-Identifier: MIT
// Counts the products with quantised matrices that a GPU would compute; runs without a GPU
// (tests/core/cuda_host).
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/compute/cuda/cuda_blocks.h"
#include "core/compute/cuda/cuda_ops.h"
#include "kernels/matrix_vector.h"

namespace midscope::test {

class CountingBlocks : public CudaBlocks {
 public:
  explicit CountingBlocks(int64_t panel_bytes) : panel_bytes_(panel_bytes) {}

  int64_t panel_bytes() const override { return panel_bytes_; }

  void Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                  const at::Tensor& out) const override {
    ++panels;
    EXPECT_TRUE(matrix.row_order.empty());
    EXPECT_TRUE(out.is_contiguous());
    EXPECT_EQ(out.size(0), matrix.rows);
    EXPECT_LE(first_column + out.size(1), matrix.columns);
    CudaBlocks::Dequantise(matrix, first_column, out);
  }

  void MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x, const at::Tensor& y,
                   const Copies* copies) const override {
    ++products;
    EXPECT_TRUE(matrix.row_order.empty());
    ASSERT_LE(x.size(0), kernels::kMatrixVectorRows);
    EXPECT_EQ(y.sizes(), at::IntArrayRef({x.size(0), matrix.rows}));
    CudaBlocks::MultiplyFew(matrix, x, y, copies);
  }

  void MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                        kernels::ActivationKind activation, const at::Tensor& y) const override {
    ++products;
    EXPECT_EQ(y.sizes(), at::IntArrayRef({x.size(0), matrix.rows / 2}));
    CudaBlocks::MultiplyFewGated(matrix, x, activation, y);
  }

  // Number of calls so far.
  mutable int64_t panels = 0;
  mutable int64_t products = 0;

 private:
  int64_t panel_bytes_;
};

// A GPU backend in host memory that counts its products.
class CountingOps : public CudaOps {
 public:
  explicit CountingOps(int64_t panel_bytes) : CudaOps(at::Device(at::kCPU)), blocks_(panel_bytes) {}
  const CountingBlocks* blocks() const override { return &blocks_; }

 private:
  CountingBlocks blocks_;
};

}  // namespace midscope::test

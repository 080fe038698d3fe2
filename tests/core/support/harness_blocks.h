// SPDX-License-Identifier: MIT
// BlockOps by the bodies of the CUDA kernels, run on the CPU block by block.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/compute/aten_ops.h"
#include "core/compute/block_arguments.h"
#include "core/compute/block_ops.h"
#include "kernels/cuda/block_formats.h"
#include "kernels/matrix_vector.h"

namespace midscope::test {

class HarnessBlocks : public BlockOps {
 public:
  explicit HarnessBlocks(int64_t panel_bytes) : panel_bytes_(panel_bytes) {}

  int64_t panel_bytes() const override { return panel_bytes_; }

  void Dequantise(const kernels::BlockMatrix& matrix, const at::Tensor& out) const override {
    ++panels;
    EXPECT_TRUE(matrix.row_order.empty());
    EXPECT_TRUE(out.is_contiguous());
    EXPECT_EQ(out.sizes(), at::IntArrayRef({matrix.rows, matrix.columns}));
    const auto arguments = DequantiseArgumentsOf(matrix, out);
    kernels::cuda::VisitFormat(matrix.type, [&]<class Format>(Format) {
      kernels::cuda::RunOnHost(kernels::cuda::DequantiseGrid<Format>(arguments), false,
                               [&](kernels::cuda::HostMachine& machine) {
                                 kernels::cuda::DequantiseBlock<Format>(machine, arguments);
                               });
    });
  }

  void MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                   const at::Tensor& y) const override {
    ++products;
    EXPECT_TRUE(matrix.row_order.empty());
    ASSERT_LE(x.size(0), kernels::kMatrixVectorRows);
    EXPECT_EQ(y.sizes(), at::IntArrayRef({x.size(0), matrix.rows}));
    const at::Tensor rows = x.contiguous();
    const auto arguments = ProductArgumentsOf(matrix, rows, y);
    constexpr int kRows = kernels::kMatrixVectorRows;
    kernels::cuda::VisitFormat(matrix.type, [&]<class Format>(Format) {
      using Block =
          kernels::cuda::QuantisedMatrixVectorBlock<Format, kRows, kernels::cuda::HostMachine>;
      kernels::cuda::RunOnHost(
          kernels::cuda::QuantisedMatrixVectorGrid<Format, kRows>(arguments), false,
          [&](kernels::cuda::HostMachine& machine) { Block(machine, arguments).Run(); });
    });
  }

  // Calls so far.
  mutable int64_t panels = 0;
  mutable int64_t products = 0;

 private:
  int64_t panel_bytes_;
};

// A device that keeps quantised matrices, in host memory.
class HarnessOps : public AtenOps {
 public:
  explicit HarnessOps(int64_t panel_bytes) : AtenOps(at::Device(at::kCPU)), blocks_(panel_bytes) {}
  const HarnessBlocks* blocks() const override { return &blocks_; }

 private:
  HarnessBlocks blocks_;
};

}  // namespace midscope::test

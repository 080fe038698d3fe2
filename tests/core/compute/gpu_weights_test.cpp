// SPDX-License-Identifier: MIT
// Quantised matrices in a GPU's memory. Contract: products equal the exact ones within float32
// rounding of the sums (and one rounding of weights and result if these are bfloat16 or float16);
// rows and columns equal those of the matrix in host memory to the last bit; a model with blocks of
// every format gives the same results with stored as with expanded weights. The tests of matrices
// also run without a GPU (tests/core/cuda_host, where device_weights_test.cpp has further tests).
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/compute/cuda/cuda_blocks.h"
#include "core/compute/placement.h"
#include "core/decoder/decoder.h"
#include "kernels/parallel.h"
#include "tests/core/support/block_model.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/stored_pair.h"
#include "tests/core/support/tested_gpu.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using kernels::BlockFormat;
using kernels::Dtype;
using test::kInputs;
using test::NumbersOf;
using test::StoredPair;

class GpuWeights : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::TestedGpu()) GTEST_SKIP() << "no GPU here";
  }

  WeightMatrix Moved(const StoredPair& pair, Dtype dtype) const {
    WeightMatrix matrix = pair.Matrix(dtype);
    matrix.MoveTo(gpu_, &blocks_, kernels::SerialExecutor());
    return matrix;
  }

  c10::InferenceMode inference_;
  at::Device gpu_ = test::TestedGpu().value_or(at::Device(at::kCUDA, 0));
  CudaBlocks blocks_;
};

TEST_F(GpuWeights, ProductsAreThoseOfTheNumbers) {
  for (const BlockFormat& format : kernels::BlockFormats()) {
    SCOPED_TRACE(format.name);
    const StoredPair pair(format);
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      const WeightMatrix matrix = Moved(pair, dtype);
      for (const int64_t rows : {1, 2, 3, 7, 8, 9, 300}) {
        const at::Tensor x = NumbersOf(rows, kInputs, TorchType(dtype)).to(gpu_);
        ExpectProduct(matrix, pair, x, TorchType(dtype));
        ExpectProduct(matrix, pair, x, at::kFloat);
      }
      // Rows with others between them, and rows that begin where 16 bytes do not.
      const at::Tensor wide = NumbersOf(5, kInputs + 11, TorchType(dtype)).to(gpu_);
      ExpectProduct(matrix, pair, wide.narrow(1, 0, kInputs), at::kFloat);
      ExpectProduct(matrix, pair, wide.narrow(1, 3, kInputs), at::kFloat);
    }
  }
}

TEST_F(GpuWeights, RowsAndColumnsAreThoseOfTheHost) {
  const kernels::Executor& executor = kernels::SerialExecutor();
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const StoredPair pair(format);
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      const WeightMatrix host = pair.Matrix(dtype);
      const WeightMatrix device = Moved(pair, dtype);
      EXPECT_TRUE(at::equal(device.Rows(30, 15).cpu(), host.Rows(30, 15))) << format.name;
      for (const int64_t column : {int64_t{0}, int64_t{300}, kInputs - 1}) {
        EXPECT_TRUE(
            at::equal(device.Column(column, 42, executor).cpu(), host.Column(column, 42, executor)))
            << format.name << ", column " << column;
      }
    }
  }
}

#ifndef MIDSCOPE_KERNELS_ON_HOST  // a decoder's devices have names
// Logits of a prompt and of a token after it.
std::vector<float> LogitsOf(const std::string& model, Dtype dtype, WeightStorage weights) {
  const auto decoder = Decoder::Open(
      model, {.dtype = dtype, .weights = weights, .placement = ParsePlacement("cuda:0")});
  std::vector<int32_t> ids = test::SomeTinyIds(41);
  const auto trace = decoder->MakeTrace(41);
  RunRequest request;
  request.trace = trace.get();
  request.ids = std::span(ids).first(40);
  std::vector<float> logits = decoder->RunOne(request).logits;
  request.ids = ids;
  const std::vector<float> next = decoder->RunOne(request).logits;
  logits.insert(logits.end(), next.begin(), next.end());
  return logits;
}

TEST_F(GpuWeights, AModelComputesWhatItDoesWithExpandedOnes) {
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const test::TemporaryFile file(test::BlockModel(format.type).Bytes());
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      const std::vector<float> stored = LogitsOf(file.path(), dtype, WeightStorage::kStored);
      const std::vector<float> expanded = LogitsOf(file.path(), dtype, WeightStorage::kExpanded);
      const double tolerance = dtype == Dtype::kFloat32 ? 1e-4 : 0.1;
      EXPECT_LE(test::Difference(stored, expanded), tolerance * test::Largest(expanded))
          << format.name;
    }
  }
}
#endif

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Matrices whose blocks a device stores, without a GPU. For tests on a GPU, see
// gpu_weights_test.cpp.
//
// Contract: products equal the exact ones within float32 rounding of the sums (and one rounding of
// weights and result if these are bfloat16), for few rows and for many, whose weights are
// dequantised panel by panel; rows and columns equal those of the matrix in host memory to the last
// bit. A matrix stays in its stored form if that is smaller. Non-finite values are rejected. A
// model gives the same results as with expanded weights.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "core/compute/layer_devices.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/run_sequences.h"
#include "core/model/model_source.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/block_model.h"
#include "tests/core/support/counting_blocks.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/stored_pair.h"

namespace midscope {
namespace {

using kernels::BlockFormat;
using kernels::BlockType;
using kernels::Dtype;
using ::testing::HasSubstr;

using test::ExpectProduct;
using test::kInputs;
using test::kOutputs;
using test::NumbersOf;
using test::StoredPair;

const kernels::Executor& Serial() { return kernels::SerialExecutor(); }

BlockFormat FormatOf(BlockType type) {
  return *kernels::FindBlockFormat(static_cast<uint32_t>(type));
}

WeightMatrix Moved(WeightMatrix matrix, const BlockOps* blocks) {
  matrix.MoveTo(at::Device(at::kCPU), blocks, Serial());
  return matrix;
}

at::Tensor X(int64_t rows) { return NumbersOf(rows, kInputs, at::kFloat); }

TEST(DeviceWeights, ProductsAreThoseOfTheNumbers) {
  const c10::InferenceMode inference;
  // 11 rows of float32 at a time, so that parts end within a panel.
  const test::CountingBlocks blocks(int64_t{11} * kInputs * 4);
  for (const BlockFormat& format : kernels::BlockFormats()) {
    SCOPED_TRACE(format.name);
    const StoredPair pair(format, FormatOf(BlockType::kQ8_0));
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      const WeightMatrix matrix = Moved(pair.Matrix(dtype), &blocks);
      for (const int64_t rows : {1, 3, 8, 9, 40}) {
        const at::Tensor x = NumbersOf(rows, kInputs, TorchType(dtype));
        ExpectProduct(matrix, pair, x, TorchType(dtype));
        ExpectProduct(matrix, pair, x, at::kFloat);
      }
    }
  }
}

TEST(DeviceWeights, ManyRowsTakePanelsAndFewTakeNone) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(int64_t{11} * kInputs * 4);
  const StoredPair pair(FormatOf(BlockType::kQ4_K), FormatOf(BlockType::kQ6_K));
  const WeightMatrix matrix = Moved(pair.Matrix(Dtype::kFloat32), &blocks);
  at::Tensor y = at::empty({9, matrix.outputs()});
  matrix.MultiplyOnDevice(X(9), y, {});
  EXPECT_EQ(blocks.panels, 4 + 2);
  EXPECT_EQ(blocks.products, 0);
  y = at::empty({8, matrix.outputs()});
  matrix.MultiplyOnDevice(X(8), y, {});
  EXPECT_EQ(blocks.panels, 4 + 2);
  EXPECT_EQ(blocks.products, 2);
  std::atomic<bool> cancel = true;
  JobContext cancelled;
  cancelled.cancel = &cancel;
  EXPECT_THROW(matrix.MultiplyOnDevice(X(8), y, cancelled), Cancelled);
}

TEST(DeviceWeights, TensorsOfOneTypeAreOneProduct) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(int64_t{11} * kInputs * 4);
  const StoredPair pair(FormatOf(BlockType::kQ4_K));
  const WeightMatrix matrix = Moved(pair.Matrix(Dtype::kFloat32), &blocks);
  const at::Tensor y = at::empty({1, matrix.outputs()});
  matrix.MultiplyOnDevice(X(1), y, {});
  EXPECT_EQ(blocks.products, 1);
}

TEST(DeviceWeights, ARowOrTwoOfExpandedOnesAreReadByTheDevicesProduct) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(1 << 20);
  const StoredPair pair(FormatOf(BlockType::kQ4_K));
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
    WeightMatrix matrix = pair.Matrix(dtype);
    matrix.Expand(Serial());
    matrix = Moved(matrix, &blocks);
    for (const int64_t rows : {1, 2, 3}) {
      blocks.products = 0;
      const at::Tensor x = NumbersOf(rows, kInputs, TorchType(dtype));
      ExpectProduct(matrix, pair, x, TorchType(dtype));
      ExpectProduct(matrix, pair, x, at::kFloat);
      EXPECT_EQ(blocks.products, rows <= BlockOps::kExpandedRows ? 2 : 0) << rows << " rows";
    }
  }
}

TEST(DeviceWeights, RowsAndColumnsAreThoseOfTheHost) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(1 << 20);
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const StoredPair pair(format);
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      const WeightMatrix host = pair.Matrix(dtype);
      const WeightMatrix device = Moved(pair.Matrix(dtype), &blocks);
      EXPECT_TRUE(at::equal(device.Rows(30, 15), host.Rows(30, 15))) << format.name;
      for (int64_t i = 0; i < 15; ++i) {
        at::Tensor row = at::empty({kInputs}, at::TensorOptions().dtype(TorchType(dtype)));
        host.Row(30 + i, row.data_ptr());
        EXPECT_TRUE(at::equal(host.Rows(30, 15)[i], row)) << format.name;
      }
      for (const int64_t column : {int64_t{0}, int64_t{77}, int64_t{300}, kInputs - 1}) {
        for (const int64_t rows : {int64_t{20}, kOutputs[0] + 5}) {
          EXPECT_TRUE(
              at::equal(device.Column(column, rows, Serial()), host.Column(column, rows, Serial())))
              << format.name << ", column " << column;
        }
      }
    }
  }
}

TEST(DeviceWeights, ColumnsThatAreAskedForAgainAreNotReadAgain) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(1 << 20);
  const StoredPair pair(FormatOf(BlockType::kQ4_K));
  const WeightMatrix matrix = Moved(pair.Matrix(Dtype::kFloat32), &blocks);
  const at::Tensor all = pair.Numbers().to(at::kFloat);
  for (int turn = 0; turn < 2; ++turn) {
    for (const int64_t column : {3, 300}) {
      for (const int64_t rows : {int64_t{20}, all.size(0)}) {
        EXPECT_TRUE(at::equal(matrix.Column(column, rows, Serial()),
                              all.narrow(0, 0, rows).select(1, column)));
      }
    }
  }
  EXPECT_EQ(blocks.panels, 4);
  for (const int64_t column : {4, 5, 6, 7, 3}) {
    EXPECT_TRUE(
        at::equal(matrix.Column(column, 20, Serial()), all.narrow(0, 0, 20).select(1, column)));
  }
  EXPECT_EQ(blocks.panels, 4 + 5) << "too many are kept";
}

TEST(DeviceWeights, StayAsTheyAreWhereThatIsSmaller) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(1 << 20);
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const StoredPair pair(format);
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      const bool smaller = format.bytes < format.elements * kernels::SizeOf(dtype);
      EXPECT_EQ(Moved(pair.Matrix(dtype), &blocks).stored(), smaller) << format.name;
      EXPECT_FALSE(Moved(pair.Matrix(dtype), nullptr).stored()) << format.name;
    }
    WeightMatrix expanded = pair.Matrix(Dtype::kFloat32);
    expanded.Expand(Serial());
    EXPECT_FALSE(Moved(expanded, &blocks).stored()) << "asked for expanded: " << format.name;
  }
}

TEST(DeviceWeights, ValuesThatAreNotFiniteAreRefused) {
  const c10::InferenceMode inference;
  const test::CountingBlocks blocks(1 << 20);
  StoredPair pair(FormatOf(BlockType::kQ4_K));
  pair.bytes[1][1] = '\x7c';  // the upper half of an infinite scale
  pair.bytes[1][0] = 0;
  EXPECT_THAT(test::ErrorMessage([&] { Moved(pair.Matrix(Dtype::kFloat32), &blocks); }),
              HasSubstr("tensor other holds values that are not finite"));
}

// The logits of all rows, then of the last one alone with a scaled channel from layer 1 on.
std::vector<float> LogitsOf(const ModelSource& source, const LayerDevices& devices) {
  const ModelConfig& config = source.config();
  Weights weights = LoadWeights(source, {.storage = WeightStorage::kStored}, Serial(), {});
  PlaceWeights(devices, Serial(), &weights);
  std::vector<int32_t> ids(23);
  std::iota(ids.begin(), ids.end(), 0);
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention("channel([3,5], factor=[-1,0])");
  RotaryCache rotary;
  const JobContext job;
  std::vector<float> logits;
  for (const int64_t first : {0, 22}) {
    request.first_logit_row = first;
    std::vector<SequencePass> sequences;
    sequences.push_back(PrepareSequence(request, 0, config, Dtype::kFloat32, devices.Devices()));
    ForwardPass pass({config, weights, devices, Dtype::kFloat32, rotary, Serial()}, job);
    pass.Run(sequences);
    const std::vector<float> rows = pass.Logits(sequences[0], first);
    logits.insert(logits.end(), rows.begin(), rows.end());
  }
  return logits;
}

TEST(DeviceWeights, AModelComputesWhatItDoesWithExpandedOnes) {
  const c10::InferenceMode inference;
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const test::TemporaryFile file(test::BlockModel(format.type).Bytes());
    const auto source = OpenModel(file.path());
    const int64_t layers = source->config().layers;
    auto ops = std::make_unique<test::CountingOps>(int64_t{100} * 256 * 4);
    const test::CountingBlocks& blocks = *ops->blocks();
    const LayerDevices device(std::move(ops), layers);
    const std::vector<float> stored = LogitsOf(*source, device);
    EXPECT_EQ(blocks.products > 0 && blocks.panels > 0, format.type != BlockType::kF32);
    const std::vector<float> expanded =
        LogitsOf(*source, {std::make_unique<AtenOps>(at::Device(at::kCPU)), layers});
    ASSERT_EQ(stored.size(), expanded.size());
    float largest = 0;
    for (const float logit : expanded) largest = std::max(largest, std::abs(logit));
    for (size_t i = 0; i < stored.size(); ++i)
      ASSERT_NEAR(stored[i], expanded[i], 1e-4 * largest) << format.name;
  }
}

}  // namespace
}  // namespace midscope

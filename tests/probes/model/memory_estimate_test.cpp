// SPDX-License-Identifier: MIT
#include "probes/model/memory_estimate.h"

#include <gtest/gtest.h>

#include "core/compute/arithmetic.h"
#include "core/model/model_source.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using kernels::Dtype;

ModelConfig Opened(const std::string& name) {
  return OpenModel(test::TinyModelPath(name))->config();
}

int64_t BesideTheFile(const ModelConfig& config, Dtype dtype) {
  return EstimateMemory(config, dtype, 16).stored_weight_bytes - config.stored_bytes -
         StoredScratchBytes(config, dtype);
}

TEST(MemoryEstimate, CountsWhatMakesHeadsOutOfLatentKeys) {
  const ModelConfig config = Opened("deepseek-v3");
  const LatentAttention& latent = config.latent;
  const int64_t elements =
      config.layers * config.heads * (latent.plain + latent.value) * latent.rank;
  ASSERT_GT(elements, 0);
  EXPECT_EQ(BesideTheFile(config, Dtype::kFloat32), 4 * elements);
  EXPECT_EQ(BesideTheFile(config, Dtype::kBFloat16), 2 * elements);
  EXPECT_EQ(BesideTheFile(Opened("mixtral"), Dtype::kFloat32), 0);
}

int64_t Expanded(const ModelConfig& config, Dtype dtype, const char* devices = "cpu") {
  return WeightBytes(EstimateMemory(config, dtype, 16), WeightStorage::kExpanded,
                     ParsePlacement(devices));
}

// For stored weights, a copy replaces the pages of the file; in addition to expanded weights, it
// remains.
TEST(MemoryEstimate, CountsCopiesBesideExpandedWeights) {
  const ModelConfig config = Opened("gpt-oss-mxfp4");
  EXPECT_EQ(config.copied_bytes, config.quantised_bytes);
  ASSERT_GT(config.copied_bytes, 0);
  EXPECT_EQ(BesideTheFile(config, Dtype::kFloat32), 0);
  // Few rows are multiplied with the file's blocks, which are kept for that purpose.
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    EXPECT_EQ(Expanded(config, dtype), kernels::SizeOf(dtype) * config.parameters +
                                           config.copied_bytes + config.quantised_bytes);
  }
  EXPECT_EQ(Expanded(config, Dtype::kFloat16), 2 * config.parameters + config.copied_bytes);
  const ModelConfig floats = Opened("mixtral");
  EXPECT_EQ(floats.copied_bytes, 0);
  EXPECT_EQ(Expanded(floats, Dtype::kFloat32), 4 * floats.parameters);
}

// If there are no blocks to multiply few rows with, a packed matrix is stored in addition to the
// expanded one.
TEST(MemoryEstimate, CountsPackedWeights) {
  const ModelConfig config = Opened("llama");
  ASSERT_EQ(config.quantised_bytes, 0);
  const int64_t copies = PacksExpanded(config, Dtype::kBFloat16) ? 2 : 1;
  EXPECT_EQ(Expanded(config, Dtype::kBFloat16), copies * 2 * config.parameters);
}

TEST(MemoryEstimate, CopiesOfTheCpuAreNotOnGpus) {
  for (const char* name : {"llama", "gpt-oss-mxfp4"}) {
    const ModelConfig config = Opened(name);
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
      for (const char* devices : {"cuda:0", "cuda:0,cuda:1", "cpu:portable"}) {
        EXPECT_EQ(Expanded(config, dtype, devices), kernels::SizeOf(dtype) * config.parameters)
            << name << " " << devices;
      }
      EXPECT_EQ(Expanded(config, dtype, "cuda:0,cpu"), Expanded(config, dtype)) << name;
    }
  }
}

TEST(MemoryEstimate, StoredWeightsStaySoOnGpus) {
  const MemoryEstimate memory = EstimateMemory(Opened("mixtral"), Dtype::kFloat32, 16);
  ASSERT_NE(memory.weight_bytes, memory.stored_weight_bytes);
  const auto bytes = [&](WeightStorage storage, const char* devices) {
    return WeightBytes(memory, storage, ParsePlacement(devices));
  };
  EXPECT_EQ(bytes(WeightStorage::kExpanded, "cpu"), memory.weight_bytes);
  EXPECT_EQ(bytes(WeightStorage::kStored, "cpu"), memory.stored_weight_bytes);
  EXPECT_EQ(bytes(WeightStorage::kStored, "cuda:0,cpu"), memory.stored_weight_bytes);
  EXPECT_EQ(bytes(WeightStorage::kExpanded, "cuda:0"), memory.weight_bytes);
  EXPECT_EQ(bytes(WeightStorage::kStored, "cpu,cpu:portable"), memory.weight_bytes);
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Frequencies of every scaling. The expected numbers are from transformers 5.23's
// ROPE_INIT_FUNCTIONS for rope_theta 10000 and 16 rotated dimensions; they are float32, hence the
// tolerance of 2e-6.

#include "core/plan/rope_frequencies.h"

#include <gtest/gtest.h>

namespace midscope {
namespace {

ModelConfig Config(RopeScalingKind kind, double factor, double original_context,
                   int64_t trained_context) {
  ModelConfig config;
  config.head_dim = 16;
  config.rope_dimensions = 16;
  config.trained_context = trained_context;
  config.rope_scaling.kind = kind;
  config.rope_scaling.factor = factor;
  config.rope_scaling.original_context = original_context;
  return config;
}

void ExpectFrequencies(const RopeFrequencies& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.inverse_frequency.size(), expected.size());
  for (size_t pair = 0; pair < expected.size(); ++pair) {
    EXPECT_NEAR(actual.inverse_frequency[pair] / expected[pair], 1.0, 2e-6) << pair;
  }
}

std::vector<double> Unscaled() {
  return {1.0, 0.316227764, 0.100000001, 0.0316227786, 0.01, 0.00316227786, 0.001, 0.000316227786};
}

TEST(RopeFrequencies, NoneAndLinear) {
  ExpectFrequencies(ModelFrequencies(Config(RopeScalingKind::kNone, 3, 0, 64), 10), Unscaled());
  const auto linear = ModelFrequencies(Config(RopeScalingKind::kLinear, 4, 0, 64), 10);
  ExpectFrequencies(linear, {0.25, 0.079056941, 0.025, 0.00790569466, 0.0025, 0.000790569466,
                             0.00025, 7.90569466e-05});
  EXPECT_EQ(linear.magnitude, 1.0);
}

TEST(RopeFrequencies, DynamicStretchesTheBaseBeyondItsContextOnly) {
  const ModelConfig config = Config(RopeScalingKind::kDynamic, 2, 0, 64);
  ExpectFrequencies(ModelFrequencies(config, 10), Unscaled());
  EXPECT_EQ(ModelFrequencies(config, 10), ModelFrequencies(config, 64));
  ExpectFrequencies(ModelFrequencies(config, 200),
                    {1.0, 0.249528468, 0.0622644536, 0.0155367535, 0.00387686281, 0.000967387517,
                     0.000241390735, 6.02338623e-05});
  ModelConfig with_original = config;
  with_original.rope_scaling.original_context = 64;
  with_original.trained_context = 256;
  EXPECT_EQ(ModelFrequencies(with_original, 200), ModelFrequencies(config, 200));
}

TEST(RopeFrequencies, Llama3MixesBetweenItsTwoWavelengths) {
  ExpectFrequencies(ModelFrequencies(Config(RopeScalingKind::kLlama3, 8, 64, 64), 10),
                    {1.0, 0.244384587, 0.0130422562, 0.00395284733, 0.00125, 0.000395284733,
                     0.000125, 3.95284733e-05});
  ExpectFrequencies(ModelFrequencies(Config(RopeScalingKind::kLlama3, 8, 8192, 131072), 10),
                    {1.0, 0.316227764, 0.100000001, 0.0316227786, 0.01, 0.00316227786,
                     0.000213607578, 3.95284733e-05});
}

TEST(RopeFrequencies, YarnRampsBetweenItsTwoBetas) {
  ModelConfig config = Config(RopeScalingKind::kYarn, 4, 512, 2048);
  const auto usual = ModelFrequencies(config, 10);
  ExpectFrequencies(usual, {1.0, 0.25693506, 0.0625, 0.0138349654, 0.0025, 0.000790569466, 0.00025,
                            7.90569466e-05});
  EXPECT_NEAR(usual.magnitude, 1.138629436111989, 1e-12);
  config.rope_scaling.attention_factor = 0.8;
  config.rope_scaling.beta_fast = 16;
  config.rope_scaling.beta_slow = 2;
  const auto given = ModelFrequencies(config, 10);
  ExpectFrequencies(given, {1.0, 0.316227764, 0.0749999955, 0.0158113893, 0.0025, 0.000790569466,
                            0.00025, 7.90569466e-05});
  EXPECT_EQ(given.magnitude, 0.8);
}

TEST(RopeFrequencies, LongRopeTakesItsLongFactorsBeyondTheOriginalContext) {
  ModelConfig config = Config(RopeScalingKind::kLongRope, 1, 64, 256);
  config.rope_scaling.short_factors = {1, 1, 1, 1.05, 1.1, 1.2, 1.3, 1.4};
  config.rope_scaling.long_factors = {1, 1.1, 1.3, 2, 3, 4, 6, 9};
  ExpectFrequencies(ModelFrequencies(config, 64),
                    {1.0, 0.316227764, 0.100000001, 0.0301169306, 0.0090909088, 0.00263523124,
                     0.00076923077, 0.000225876982});
  ExpectFrequencies(ModelFrequencies(config, 65),
                    {1.0, 0.287479758, 0.0769230798, 0.0158113893, 0.00333333341, 0.000790569466,
                     0.000166666665, 3.51364179e-05});
  EXPECT_NEAR(ModelFrequencies(config, 65).magnitude, 1.1547005383792517, 1e-12);
  config.rope_scaling.attention_factor = 1.0;
  EXPECT_EQ(ModelFrequencies(config, 65).magnitude, 1.0);
}

TEST(RopeFrequencies, LocalLayersAreUnscaled) {
  ModelConfig config = Config(RopeScalingKind::kLinear, 4, 0, 64);
  config.rope_base = 1e6;
  ExpectFrequencies(LocalFrequencies(config, 0), Unscaled());
}

}  // namespace
}  // namespace midscope

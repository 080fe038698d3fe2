// SPDX-License-Identifier: MIT
// Values read from config.json of Qwen3-Next and Qwen3.5, and what is refused. Their numbers are
// held against transformers in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/model_source.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"

namespace midscope {
namespace {

using test::AttendingLayers;
using test::ConfigWith;
using test::ErrorWith;
using test::OpenErrorWith;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Qwen3Next, EveryFourthLayerAttendsWhereTheFileSaysNothing) {
  using Layers = std::vector<int64_t>;
  EXPECT_EQ(AttendingLayers(ConfigWith("qwen3-5", {})), (Layers{1, 3}));
  EXPECT_EQ(AttendingLayers(ConfigWith("qwen3-5", {{"layer_types", nullptr}})), (Layers{3}));
  EXPECT_EQ(AttendingLayers(ConfigWith("qwen3-5", {{"layer_types", nullptr},
                                                   {"full_attention_interval", 2},
                                                   {"num_hidden_layers", 5}})),
            (Layers{1, 3}));
}

TEST(Qwen3Next, AbsentKeysHaveTheDefaultsOfTransformers) {
  const ModelConfig config = ConfigWith("qwen3-5", {{"linear_num_key_heads", nullptr},
                                                    {"linear_num_value_heads", nullptr},
                                                    {"linear_key_head_dim", nullptr},
                                                    {"linear_value_head_dim", nullptr},
                                                    {"linear_conv_kernel_dim", nullptr},
                                                    {"head_dim", nullptr},
                                                    {"rope_parameters", nullptr}});
  EXPECT_EQ(config.delta_rule.key_heads, 16);
  EXPECT_EQ(config.delta_rule.value_heads, 32);
  EXPECT_EQ(config.delta_rule.key_dim, 128);
  EXPECT_EQ(config.delta_rule.value_dim, 128);
  EXPECT_EQ(config.delta_rule.taps, 4);
  EXPECT_EQ(config.head_dim, 256);
  EXPECT_EQ(config.rope_dimensions, 64);
  EXPECT_TRUE(config.gated_attention);
}

TEST(Qwen3Next, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("qwen3-5", {{"layer_types", {"full_attention"}}}),
              HasSubstr("names 1 layers; the model has 4"));
  EXPECT_THAT(
      ErrorWith("qwen3-5",
                {{"layer_types",
                  {"full_attention", "sliding_attention", "full_attention", "full_attention"}}}),
      HasSubstr("'sliding_attention'"));
  EXPECT_THAT(ErrorWith("qwen3-5", {{"hidden_act", "gelu"}}), HasSubstr("silu"));
  EXPECT_THAT(ErrorWith("qwen3-5", {{"linear_num_value_heads", 3}}),
              HasSubstr("2 key heads of 6 dimensions, 3 value heads"));
  EXPECT_THAT(OpenErrorWith("qwen3-5", {{"linear_conv_kernel_dim", 4}}),
              AllOf(HasSubstr("conv1d"), HasSubstr("[64, 1, 4]")));
}

TEST(Qwen3Next, TermsLeaveLayersWithoutAttentionAlone) {
  const ModelConfig config = ConfigWith("qwen3-5", {});
  const auto plain = CompilePlans({}, config, 40);
  for (const char* setting : {"ms-poe(first_layer=0)", "pi(2)", "channel(3, factor=0)",
                              "block(from=last, to=3:9)", "streaming(sink=2, recent=9)"}) {
    const auto plans = CompilePlans(ParseIntervention(setting), config, 40);
    EXPECT_EQ(plans[0], plain[0]) << setting;
    EXPECT_EQ(plans[2], plain[2]) << setting;
    EXPECT_NE(plans[1], plain[1]) << setting;
  }
}

}  // namespace
}  // namespace midscope

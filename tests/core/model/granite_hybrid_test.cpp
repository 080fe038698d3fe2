// SPDX-License-Identifier: MIT
// Values read from config.json of Granite 4, and what is refused. Its numbers are held against
// transformers in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/model_source.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorMessage;
using test::ErrorWith;
using ::testing::HasSubstr;

TEST(GraniteHybrid, AbsentKeysHaveTheDefaultsOfTransformers) {
  const ModelConfig config = ConfigWith("granite-hybrid", {{"hidden_size", 64},
                                                           {"num_attention_heads", 4},
                                                           {"mamba_n_heads", nullptr},
                                                           {"mamba_n_groups", nullptr},
                                                           {"mamba_d_state", nullptr},
                                                           {"mamba_d_conv", nullptr},
                                                           {"mamba_expand", nullptr},
                                                           {"num_local_experts", nullptr},
                                                           {"num_experts_per_tok", nullptr},
                                                           {"shared_intermediate_size", nullptr},
                                                           {"position_embedding_type", nullptr}});
  EXPECT_EQ(config.state_space.heads, 128);
  EXPECT_EQ(config.state_space.head_dim, 1);
  EXPECT_EQ(config.state_space.groups, 1);
  EXPECT_EQ(config.state_space.state_dim, 256);
  EXPECT_EQ(config.state_space.taps, 4);
  EXPECT_EQ(config.experts.count, 8);
  EXPECT_EQ(config.experts.per_row, 2);
  EXPECT_EQ(config.experts.shared_width, 1024);
  EXPECT_EQ(config.positions, PositionKind::kNone);
  EXPECT_EQ(config.norm_epsilon, 1e-6);
}

TEST(GraniteHybrid, OldNamesOfLayersAreThoseOfTransformers) {
  const ModelConfig config =
      ConfigWith("granite-hybrid", {{"layer_types", {"mamba", "attention", "attention", "mamba"}}});
  EXPECT_FALSE(config.HasAttention(0));
  EXPECT_TRUE(config.HasAttention(2));
  const ModelConfig dense = ConfigWith(
      "granite-hybrid", {{"layer_types", {"attention", "attention", "attention", "attention"}}});
  EXPECT_FALSE(dense.HasMixers());
  EXPECT_TRUE(dense.notes.empty());
}

TEST(GraniteHybrid, BambaNamesTheLayersThatHaveAttention) {
  const ModelConfig config = ConfigWith("bamba", {{"attn_layer_indices", {0, 2}}});
  EXPECT_TRUE(config.HasAttention(0));
  EXPECT_FALSE(config.HasAttention(1));
  EXPECT_EQ(config.rope_dimensions, 4);
  EXPECT_TRUE(config.AttentionOf(0).rotary);
  EXPECT_THAT(ErrorWith("bamba", {{"attn_layer_indices", {0, 3}}}),
              HasSubstr("attn_layer_indices"));
}

TEST(GraniteHybrid, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("granite-hybrid", {{"layer_types", nullptr}}),
              HasSubstr("none of its layers has attention"));
  EXPECT_THAT(ErrorWith("granite-hybrid", {{"position_embedding_type", "absolute"}}),
              HasSubstr("'absolute'"));
  EXPECT_THAT(ErrorWith("granite-hybrid", {{"hidden_act", "gelu"}}), HasSubstr("silu"));
  EXPECT_THAT(ErrorWith("granite-hybrid", {{"time_step_limit", {0.0, 0.5}}}),
              HasSubstr("time_step_limit"));
  EXPECT_THAT(ErrorWith("granite-hybrid", {{"mamba_n_heads", 7}}), HasSubstr("mamba_n_heads"));
  EXPECT_THAT(ErrorWith("granite-hybrid", {{"mamba_n_groups", 3}}),
              HasSubstr("4 heads of 15 dimensions in 3 groups of 6 states"));
}

TEST(GraniteHybrid, WithoutPositionsRefusesToChangeThem) {
  const ModelConfig config = ConfigWith("granite-hybrid", {});
  for (const char* setting : {"pi(2)", "ms-poe()", "self-extend(group=2, window=4)",
                              "positions(sampler=pose, factor=2)"}) {
    EXPECT_THAT(ErrorMessage([&] { CompilePlans(ParseIntervention(setting), config, 40); }),
                HasSubstr("its attention has no positions"))
        << setting;
  }
  EXPECT_NO_THROW(
      CompilePlans(ParseIntervention("ablate(L1H2) + channel(3, factor=0)"), config, 40));
}

}  // namespace
}  // namespace midscope

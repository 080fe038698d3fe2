// SPDX-License-Identifier: MIT
// Gemma 4: values read from its config.json, rejected values, heads of two sizes in its parts. The
// numbers are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/model/model_shapes.h"
#include "core/plan/attention_plan.h"
#include "core/plan/rope_frequencies.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorWith;
using test::OpenErrorWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const Json ropes_of_layers = {
    {"full_attention",
     {{"rope_type", "proportional"}, {"rope_theta", 400.0}, {"partial_rotary_factor", 0.5}}},
    {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 300.0}}}};

TEST(FolderModel, Gemma4HasTwoKindsOfLayers) {
  const ModelConfig config = ConfigWith("gemma4", {});
  EXPECT_EQ(config.HeadDim(0), 10);
  EXPECT_EQ(config.KeyValueHeads(0), 3);
  EXPECT_EQ(config.HeadDim(1), 16);
  EXPECT_EQ(config.KeyValueHeads(1), 2);
  EXPECT_EQ(config.attention[0].window, 11);
  EXPECT_EQ(config.attention[1].window, 0);
  EXPECT_TRUE(config.attention[1].value_is_key && !config.attention[0].value_is_key);
  EXPECT_TRUE(config.attention[0].local && !config.attention[1].local);
  EXPECT_EQ(config.rope_dimensions, 16);
  EXPECT_EQ(config.turning_pairs, 4);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kLinear);
  EXPECT_EQ(config.logit_scale, 1.0);
  EXPECT_FALSE(config.norm_adds_one);
  EXPECT_EQ(config.final_softcap, 5.0);
}

TEST(FolderModel, Gemma4ReadsHeadsByLayerAsInTwoKeys) {
  const Json by_layer = {{"1", {{"head_dim", 16}, {"num_key_value_heads", 2}}},
                         {"3", {{"head_dim", 16}, {"num_key_value_heads", 2}}}};
  const ModelConfig config = ConfigWith("gemma4", {{"global_head_dim", nullptr},
                                                   {"num_global_key_value_heads", nullptr},
                                                   {"per_layer_config", by_layer}});
  EXPECT_EQ(config.attention, ConfigWith("gemma4", {}).attention);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.key_value_heads, 2);
  const Json other = {{"3", {{"head_dim", 16}}}};
  EXPECT_THAT(ErrorWith("gemma4", {{"per_layer_config", other}}), HasSubstr("different sizes"));
}

TEST(FolderModel, Gemma4HasDefaults) {
  const ModelConfig plain = ConfigWith("gemma4", {{"global_head_dim", nullptr},
                                                  {"rope_parameters", nullptr},
                                                  {"sliding_window", nullptr},
                                                  {"layer_types", nullptr},
                                                  {"final_logit_softcapping", nullptr},
                                                  {"attention_k_eq_v", nullptr}});
  EXPECT_EQ(plain.head_dim, 512);
  EXPECT_EQ(plain.key_value_heads, 3);  // the other number is for keys that are values
  EXPECT_EQ(plain.turning_pairs, 64);
  EXPECT_EQ(plain.rope_base, 1e6);
  EXPECT_EQ(plain.rope_local_base, 1e4);
  EXPECT_EQ(plain.attention[0].window, 512);
  EXPECT_EQ(plain.attention[3].window, 0);  // the last layer sees all keys
  EXPECT_EQ(plain.final_softcap, 0.0);
}

TEST(FolderModel, Gemma4RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("gemma4", {{"hidden_size_per_layer_input", nullptr}}),
              HasSubstr("hidden_size_per_layer_input is 256: per-layer embeddings"));
  EXPECT_THAT(ErrorWith("gemma4", {{"num_kv_shared_layers", 2}}),
              HasSubstr("keys shared between layers"));
  EXPECT_THAT(ErrorWith("gemma4", {{"enable_moe_block", true}}), HasSubstr("experts"));
  EXPECT_THAT(ErrorWith("gemma4", {{"use_bidirectional_attention", "all"}}),
              HasSubstr("use_bidirectional_attention is 'all'"));
  EXPECT_EQ(ErrorWith("gemma4", {{"use_bidirectional_attention", "vision"}}), "");
  const auto with_rope = [](const char* layers, const char* key, const Json& value) {
    Json ropes = ropes_of_layers;
    ropes[layers][key] = value;
    return ErrorWith("gemma4", {{"rope_parameters", ropes}});
  };
  EXPECT_EQ(with_rope("full_attention", "partial_rotary_factor", 1.0), "");
  EXPECT_THAT(with_rope("full_attention", "rope_type", "yarn"), HasSubstr("'yarn'"));
  EXPECT_THAT(with_rope("full_attention", "partial_rotary_factor", 1.5), HasSubstr("over 1"));
  EXPECT_THAT(with_rope("full_attention", "partial_rotary_factor", 0.01),
              HasSubstr("no pair that turns"));
  EXPECT_THAT(with_rope("sliding_attention", "rope_type", "linear"), HasSubstr("'linear'"));
  EXPECT_THAT(OpenErrorWith("gemma4", {{"global_head_dim", 18}}),
              HasSubstr("q_norm.weight has shape [16]; the model needs [18]"));
}

// Exponents are over the whole head; pairs that do not turn stay so under every scheme.
TEST(Gemma4, TurnsOnlyItsFirstPairs) {
  const ModelConfig config = ConfigWith("gemma4", {{"rope_parameters", ropes_of_layers}});
  for (const char* setting : {"none", "ntk(2)", "base(5000)", "yarn(4)"}) {
    const auto plans = CompilePlans(ParseIntervention(setting), config, 20, 20);
    const std::vector<double>& global = plans[1].inverse_frequency;
    ASSERT_EQ(global.size(), 8u);
    for (size_t pair = 0; pair < 8; ++pair) EXPECT_EQ(global[pair] > 0, pair < 4) << setting;
    EXPECT_EQ(plans[0].inverse_frequency.size(), 5u);
  }
  const RopeFrequencies own = ModelFrequencies(config, 20);
  EXPECT_DOUBLE_EQ(own.inverse_frequency[3], std::pow(400.0, -6.0 / 16));
}

}  // namespace
}  // namespace midscope

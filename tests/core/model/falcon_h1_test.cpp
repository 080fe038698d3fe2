// SPDX-License-Identifier: MIT
// Values read from config.json and GGUF metadata of Falcon-H1, what is refused, and layers with
// attention and a mixer. Its numbers are held against transformers in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorWith;
using test::OpenErrorWith;
using ::testing::HasSubstr;

TEST(FalconH1, AbsentKeysHaveTheDefaultsOfTransformers) {
  const ModelConfig config = ConfigWith("falcon-h1", {{"hidden_size", 64},
                                                      {"head_dim", nullptr},
                                                      {"num_attention_heads", 4},
                                                      {"num_key_value_heads", 2},
                                                      {"intermediate_size", nullptr},
                                                      {"mamba_d_ssm", nullptr},
                                                      {"mamba_n_heads", nullptr},
                                                      {"mamba_n_groups", nullptr},
                                                      {"mamba_d_state", nullptr},
                                                      {"mamba_d_conv", nullptr},
                                                      {"mamba_rms_norm", nullptr},
                                                      {"mamba_norm_before_gate", nullptr},
                                                      {"embedding_multiplier", nullptr},
                                                      {"lm_head_multiplier", nullptr},
                                                      {"key_multiplier", nullptr},
                                                      {"attention_in_multiplier", nullptr},
                                                      {"attention_out_multiplier", nullptr},
                                                      {"ssm_in_multiplier", nullptr},
                                                      {"ssm_out_multiplier", nullptr},
                                                      {"ssm_multipliers", nullptr},
                                                      {"mlp_multipliers", nullptr}});
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.feed_forward, 14336);
  EXPECT_EQ(config.state_space.heads, 128);
  EXPECT_EQ(config.state_space.head_dim, 8);
  EXPECT_EQ(config.state_space.groups, 1);
  EXPECT_EQ(config.state_space.state_dim, 256);
  EXPECT_EQ(config.state_space.taps, 4);
  EXPECT_EQ(config.state_space.norm, GatedNorm::kNone);
  EXPECT_EQ(config.state_space.scales, StateSpace().scales);
  EXPECT_EQ(config.embedding_scale, 1.0);
  EXPECT_EQ(config.output_scale, 1.0);
  EXPECT_EQ(config.logit_scale, 0.25);
  EXPECT_EQ(config.attention_scale, 1.0);
  EXPECT_EQ(config.mixer_scale, 1.0);
  EXPECT_EQ(config.gate_scale, 1.0);
  EXPECT_EQ(config.mlp_scale, 1.0);
  EXPECT_EQ(ConfigWith("falcon-h1", {{"mamba_rms_norm", true}, {"mamba_norm_before_gate", nullptr}})
                .state_space.norm,
            GatedNorm::kBeforeGate);
}

TEST(FalconH1, WidthOfTheStateSpaceIsExpandedIfItIsNull) {
  const ModelConfig config =
      ConfigWith("falcon-h1", {{"mamba_d_ssm", "null"}, {"mamba_expand", 3}});
  EXPECT_EQ(config.state_space.width(), 3 * 36);
}

TEST(FalconH1, FactorsAreCombined) {
  const ModelConfig config =
      ConfigWith("falcon-h1", {{"attention_in_multiplier", 2.0},
                               {"attention_out_multiplier", 0.75},
                               {"key_multiplier", 0.5},
                               {"ssm_in_multiplier", 4.0},
                               {"ssm_multipliers", {1.0, 2.0, 3.0, 4.0, 5.0}},
                               {"ssm_out_multiplier", 0.25},
                               {"mlp_multipliers", {0.5, 2.0}}});
  EXPECT_DOUBLE_EQ(config.logit_scale, 2.0 * 2.0 * 0.5 / std::sqrt(10.0));
  EXPECT_EQ(config.attention_scale, 1.5);
  EXPECT_EQ(config.state_space.scales, (std::array<double, 5>{4, 8, 12, 16, 20}));
  EXPECT_EQ(config.mixer_scale, 0.25);
  EXPECT_EQ(config.gate_scale, 0.5);
  EXPECT_EQ(config.mlp_scale, 2.0);
}

TEST(FalconH1, EachLayerHasAttentionAndAMixer) {
  for (const char* name : {"falcon-h1", "gguf-falcon-h1"}) {
    const ModelConfig config = OpenModel(test::TinyModelPath(name))->config();
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      EXPECT_TRUE(config.HasAttention(layer)) << name;
      EXPECT_TRUE(config.HasMixer(layer)) << name;
      EXPECT_TRUE(config.AttentionOf(layer).rotary) << name;
    }
    EXPECT_THAT(config.notes, ::testing::Contains(HasSubstr(
                                  "beside the attention of each layer a state space (Mamba-2)")));
    EXPECT_NO_THROW(CompilePlans(ParseIntervention("pi(2) + ablate(L1H2)"), config, 40)) << name;
  }
}

TEST(FalconH1, GgufFilesHaveTheFactorsInTheirWeights) {
  const ModelConfig config = OpenModel(test::TinyModelPath("gguf-falcon-h1"))->config();
  EXPECT_EQ(config.state_space.norm, GatedNorm::kAfterGate);
  EXPECT_EQ(config.state_space.width(), 24);
  EXPECT_EQ(config.state_space.scales, StateSpace().scales);
  EXPECT_EQ(config.embedding_scale, 1.0);
  EXPECT_EQ(config.logit_scale, 0.0);
  EXPECT_EQ(config.mixer_scale, 1.0);
}

TEST(FalconH1, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("falcon-h1", {{"hidden_act", "gelu"}}), HasSubstr("silu"));
  EXPECT_THAT(ErrorWith("falcon-h1", {{"time_step_limit", {0.0, 0.5}}}),
              HasSubstr("time_step_limit"));
  EXPECT_THAT(ErrorWith("falcon-h1", {{"mamba_n_heads", 7}}),
              HasSubstr("mamba_n_heads does not divide 24"));
  EXPECT_THAT(ErrorWith("falcon-h1", {{"ssm_multipliers", {1.0, 2.0}}}),
              HasSubstr("ssm_multipliers has 2 numbers"));
  EXPECT_THAT(ErrorWith("falcon-h1", {{"mlp_multipliers", {1.0, 2.0, 3.0}}}),
              HasSubstr("mlp_multipliers has 3 numbers"));
  EXPECT_THAT(ErrorWith("falcon-h1", {{"attention_bias", true}}),
              HasSubstr("attention_in_multiplier is not 1 and attention_bias is true"));
  EXPECT_THAT(ErrorWith("falcon-h1", {{"mamba_proj_bias", true}}),
              HasSubstr("ssm_in_multiplier is not 1 and mamba_proj_bias is true"));
  EXPECT_THAT(OpenErrorWith("falcon-h1", {{"mamba_rms_norm", true}}), HasSubstr("mamba.norm"));
  EXPECT_THAT(OpenErrorWith("falcon-h1-norm", {{"projectors_bias", false}}),
              HasSubstr("mamba.out_proj.bias"));
}

// Reads every point of a layer, all rows.
class PointsOfLayer : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.layer != 1) return {};
    return {HookAccess::kRead, {0, sequence.rows}};
  }

  void OnActivation(HookView& view) override {
    std::vector<float>& values = rows[view.point.site];
    const bool flat = view.dimensions == 3;
    for (int64_t row = 0; flat && row < view.rows(); ++row) {
      for (int64_t i = 0; i < view.shape[2]; ++i) values.push_back(view.At(0, row, i, 0));
    }
  }

  std::map<HookSite, std::vector<float>> rows;
};

TEST(FalconH1, HooksSeeBothPartsAndTheirSum) {
  const auto decoder =
      Decoder::Open(test::TinyModelPath("falcon-h1"), {kernels::Dtype::kFloat32, 1});
  PointsOfLayer hook;
  const std::vector<int32_t> ids = test::SomeTinyIds(20);
  RunRequest request;
  request.ids = ids;
  request.hooks = {&hook};
  decoder->RunOne(request);
  for (const HookSite site : {HookSite::kPattern, HookSite::kEffectivePattern, HookSite::kZ})
    EXPECT_EQ(hook.rows.count(site), 1u) << static_cast<int>(site);
  const std::vector<float>& before = hook.rows.at(HookSite::kResidPre);
  const std::vector<float>& added = hook.rows.at(HookSite::kAttentionOut);
  const std::vector<float>& after = hook.rows.at(HookSite::kResidMid);
  ASSERT_EQ(before.size(), 20u * 36);
  ASSERT_EQ(added.size(), before.size());
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_FLOAT_EQ(after[i], before[i] + added[i]);
}

}  // namespace
}  // namespace midscope

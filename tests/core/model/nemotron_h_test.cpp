// SPDX-License-Identifier: MIT
// Values read from config.json of Nemotron-H, what is refused, and layers of one half. Its numbers
// are held against transformers in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorWith;
using ::testing::HasSubstr;

TEST(NemotronH, AbsentKeysHaveTheDefaultsOfTransformers) {
  const ModelConfig config =
      ConfigWith("nemotron-h-experts", {{"layers_block_type", nullptr},
                                        {"head_dim", nullptr},
                                        {"num_attention_heads", nullptr},
                                        {"num_key_value_heads", nullptr},
                                        {"mamba_num_heads", nullptr},
                                        {"mamba_head_dim", nullptr},
                                        {"n_groups", nullptr},
                                        {"ssm_state_size", nullptr},
                                        {"conv_kernel", nullptr},
                                        {"n_routed_experts", nullptr},
                                        {"num_experts_per_tok", nullptr},
                                        {"moe_intermediate_size", nullptr},
                                        {"moe_shared_expert_intermediate_size", nullptr},
                                        {"norm_topk_prob", nullptr},
                                        {"routed_scaling_factor", nullptr},
                                        {"layer_norm_epsilon", nullptr}});
  EXPECT_EQ(config.layers, 4);  // a state space, experts, attention, an MLP
  EXPECT_TRUE(config.HasMixer(0));
  EXPECT_TRUE(config.experts.In(1));
  EXPECT_TRUE(config.HasAttention(2));
  EXPECT_TRUE(config.HasMlp(3));
  EXPECT_FALSE(config.experts.In(3));
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.heads, 32);
  EXPECT_EQ(config.key_value_heads, 8);
  EXPECT_EQ(config.state_space.heads, 128);
  EXPECT_EQ(config.state_space.head_dim, 64);
  EXPECT_EQ(config.state_space.groups, 8);
  EXPECT_EQ(config.state_space.state_dim, 128);
  EXPECT_EQ(config.state_space.taps, 4);
  EXPECT_EQ(config.experts.count, 8);
  EXPECT_EQ(config.experts.per_row, 2);
  EXPECT_EQ(config.experts.width, 7688);
  EXPECT_EQ(config.experts.shared_width, 7688);
  EXPECT_TRUE(config.experts.normalised);
  EXPECT_EQ(config.experts.scale, 1.0);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.activation, Activation::kSquaredRelu);
}

TEST(NemotronH, LayersAreNamedByAListOrAPattern) {
  const auto list = ConfigWith("nemotron-h", {}).attention;
  EXPECT_EQ(ConfigWith("nemotron-h", {{"layers_block_type", nullptr},
                                      {"hybrid_override_pattern", "M*-*M-"},
                                      {"num_hidden_layers", 6}})
                .attention,
            list);
  EXPECT_EQ(ConfigWith("nemotron-h",
                       {{"layers_block_type",
                         {"mamba", "attention", "mlp", "attention", "linear_attention", "mlp"}}})
                .attention,
            list);
}

TEST(NemotronH, NotesSayWhatLayersWithoutAttentionAre) {
  EXPECT_THAT(
      ConfigWith("nemotron-h", {}).notes,
      ::testing::Contains(HasSubstr("4 of its 6 layers have no attention (a state space "
                                    "(Mamba-2) mixes the tokens in 2, 2 are an MLP alone)")));
}

TEST(NemotronH, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("nemotron-h", {{"layers_block_type", {"mamba", "conv"}}}),
              HasSubstr("'conv'"));
  EXPECT_THAT(
      ErrorWith("nemotron-h", {{"layers_block_type", nullptr}, {"hybrid_override_pattern", "M*X"}}),
      HasSubstr("'M*X'"));
  EXPECT_THAT(ErrorWith("nemotron-h", {{"num_hidden_layers", 7}}), HasSubstr("num_hidden_layers"));
  EXPECT_THAT(ErrorWith("nemotron-h", {{"layers_block_type", {"mamba", "mlp"}}}),
              HasSubstr("none of its layers has attention"));
  EXPECT_THAT(ErrorWith("nemotron-h", {{"mamba_hidden_act", "gelu"}}), HasSubstr("silu"));
  EXPECT_THAT(ErrorWith("nemotron-h", {{"time_step_limit", {0.0, 0.5}}}),
              HasSubstr("time_step_limit"));
  EXPECT_THAT(ErrorWith("nemotron-h-experts", {{"moe_latent_size", 8}}),
              HasSubstr("moe_latent_size"));
}

// Reads every point, and adds `change` to the points of one site.
class EveryPoint : public Hook {
 public:
  explicit EveryPoint(HookSite changed = HookSite::kEmbed, float change = 0)
      : changed_(changed), change_(change) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool writes = change_ != 0 && point.site == changed_;
    return {writes ? HookAccess::kWrite : HookAccess::kRead, {0, sequence.rows}};
  }

  void OnActivation(HookView& view) override {
    if (view.dimensions != 3) return;
    std::vector<float>& values = rows[{view.point.layer, view.point.site}];
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t i = 0; i < view.shape[2]; ++i) {
        values.push_back(view.At(0, row, i, 0));
        if (change_ != 0 && view.point.site == changed_)
          view.Set(0, row, i, 0, values.back() + change_);
      }
    }
  }

  std::map<std::pair<int64_t, HookSite>, std::vector<float>> rows;

 private:
  HookSite changed_;
  float change_;
};

class OneHalf : public ::testing::Test {
 protected:
  void Run(EveryPoint& hook) const {
    const std::vector<int32_t> ids = test::SomeTinyIds(20);
    RunRequest request;
    request.ids = ids;
    request.hooks = {&hook};
    decoder_->RunOne(request);
  }

  std::shared_ptr<Decoder> decoder_ =
      Decoder::Open(test::TinyModelPath("nemotron-h"), {kernels::Dtype::kFloat32, 1});
};

TEST_F(OneHalf, TheHalfThatIsNotThereAddsZeros) {
  EveryPoint hook;
  Run(hook);
  const auto is_zero = [](const std::vector<float>& values) {
    return !values.empty() &&
           std::all_of(values.begin(), values.end(), [](float x) { return x == 0; });
  };
  for (int64_t layer = 0; layer < decoder_->config().layers; ++layer) {
    const auto at = [&](HookSite site) { return hook.rows[{layer, site}]; };
    const bool mixes = decoder_->config().MixesRows(layer);
    EXPECT_EQ(is_zero(at(HookSite::kAttentionOut)), !mixes) << layer;
    EXPECT_EQ(is_zero(at(HookSite::kMlpOut)), mixes) << layer;
    EXPECT_EQ(at(HookSite::kResidMid) == at(HookSite::kResidPre), !mixes) << layer;
    EXPECT_EQ(at(HookSite::kResidMid) == at(HookSite::kResidPost), mixes) << layer;
    EXPECT_EQ(at(HookSite::kNormalizedAttention).empty(), !mixes) << layer;
    EXPECT_EQ(at(HookSite::kNormalizedMlp).empty(), mixes) << layer;
    EXPECT_EQ(at(HookSite::kMlpPost).empty(), mixes) << layer;
  }
}

TEST_F(OneHalf, WhatIsWrittenThereIsAdded) {
  for (const HookSite site : {HookSite::kAttentionOut, HookSite::kMlpOut}) {
    EveryPoint hook(site, 0.5f);
    Run(hook);
    for (int64_t layer = 0; layer < decoder_->config().layers; ++layer) {
      const bool has = site == HookSite::kMlpOut ? decoder_->config().HasMlp(layer)
                                                 : decoder_->config().MixesRows(layer);
      if (has) continue;
      const std::vector<float>& before =
          hook.rows[{layer, site == HookSite::kMlpOut ? HookSite::kResidMid : HookSite::kResidPre}];
      const std::vector<float>& after = hook.rows[{
          layer, site == HookSite::kMlpOut ? HookSite::kResidPost : HookSite::kResidMid}];
      ASSERT_EQ(before.size(), after.size());
      for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i] + 0.5f) << layer;
    }
  }
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Gemma 4: values read from its config.json, rejected values, heads of two sizes in its parts, keys
// that layers share. The numbers are tested in families_test.cpp.
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
#include "tests/core/support/closeness.h"
#include "tests/core/support/safetensors_parts.h"

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
  EXPECT_EQ(
      ConfigWith("gemma4-shared", {{"hidden_size_per_layer_input", nullptr}}).layer_input_width,
      256);
  EXPECT_THAT(ErrorWith("gemma4-shared", {{"vocab_size_per_layer_input", nullptr}}),
              HasSubstr("vocab_size_per_layer_input is 262144 and vocab_size 264"));
  EXPECT_THAT(ErrorWith("gemma4-shared", {{"num_kv_shared_layers", 6}}),
              HasSubstr("is 6: no layer below layer 1 has keys of its kind"));
  EXPECT_THAT(ErrorWith("gemma4", {{"enable_moe_block", true}}), HasSubstr("num_experts"));
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

TEST(FolderModel, Gemma4LayersReadTheKeysOfTheLastOfTheirKind) {
  const ModelConfig config = ConfigWith("gemma4-shared", {});
  std::vector<int64_t> keys_of;
  std::vector<int64_t> widths;
  keys_of.reserve(7);
  widths.reserve(7);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    keys_of.push_back(config.AttentionOf(layer).keys_of);
    widths.push_back(config.FeedForward(layer));
  }
  EXPECT_EQ(keys_of, (std::vector<int64_t>{-1, -1, -1, -1, 2, 2, 3}));
  EXPECT_EQ(widths, (std::vector<int64_t>{44, 44, 44, 44, 88, 88, 88}));
  EXPECT_EQ(config.FirstLentLayer(), 2);
  EXPECT_EQ(config.layer_input_width, 12);
  EXPECT_EQ(ConfigWith("gemma4", {}).FirstLentLayer(), 4);
}

// Published files have projections for these layers, which are not used.
TEST(FolderModel, Gemma4LeavesUnusedKeysOfAFileOut) {
  const test::TemporaryFolder folder(test::TinyModelFolder("gemma4-shared"));
  test::SafetensorsParts parts = test::ReadSafetensors(folder.Read("model.safetensors"));
  const auto copy = [&](const std::string& from, const std::string& to) {
    parts["model.layers." + to + "_proj.weight"] =
        parts.at("model.layers." + from + "_proj.weight");
    folder.Write("model.safetensors", test::WriteSafetensors(parts));
    return test::ErrorMessage([&] { OpenFolderModel(folder.path()); });
  };
  EXPECT_EQ(copy("2.self_attn.k", "4.self_attn.k"), "");
  EXPECT_EQ(copy("2.self_attn.v", "5.self_attn.v"), "");
  EXPECT_THAT(copy("2.self_attn.k", "2.self_attn.r"), HasSubstr("has no place"));
}

TEST(FolderModel, Gemma4HasExpertsBesideItsMlp) {
  const ModelConfig config = ConfigWith("gemma4-experts", {});
  EXPECT_EQ(config.experts.count, 5);
  EXPECT_EQ(config.experts.per_row, 2);
  EXPECT_EQ(config.experts.width, 18);
  EXPECT_TRUE(config.experts.beside_mlp && config.experts.normalised && config.experts.In(2));
}

// Runs of a model whose last three layers read keys of layers 2 and 3.
class SharedKeys : public ::testing::Test {
 protected:
  std::vector<float> Logits(const std::string& setting, Trace* trace = nullptr) const {
    RunRequest request;
    request.ids = ids_;
    request.intervention = ParseIntervention(setting);
    request.trace = trace;
    return decoder_->RunOne(request).logits;
  }
  std::vector<float> Rerun(const std::string& setting, Trace* trace, std::vector<int64_t> rows,
                           bool keep) const {
    RunRequest request;
    request.ids = ids_;
    request.intervention = ParseIntervention(setting);
    request.trace = trace;
    request.rerun = {.first_row = std::move(rows), .keep = keep};
    return decoder_->RunOne(request).logits;
  }
  void ExpectClose(const std::vector<float>& a, const std::vector<float>& b) const {
    EXPECT_LE(test::Difference(a, b), 1e-5 * test::Largest(b));
  }

  std::shared_ptr<const Decoder> decoder_ =
      Decoder::Open(test::TinyModelFolder("gemma4-shared"), {kernels::Dtype::kFloat32, 1});
  std::vector<int32_t> ids_ = test::SomeTinyIds(24);
};

// The stream after layer 1 is changed, so that keys of layers 2 and 3 change.
constexpr const char* kChange = "set(5, span=6:9, to=3, layers=1)";

TEST_F(SharedKeys, ChangesOfLentKeysReachTheLayersThatReadThem) {
  const auto trace = decoder_->MakeTrace(24);
  const std::vector<float> clean = Logits("none", trace.get());
  const std::vector<float> changed = Logits(kChange);
  EXPECT_GT(test::Difference(clean, changed), 1e-2);
  ExpectClose(Rerun(kChange, trace.get(), {24, 6, 6, 6, 6, 6, 6}, /*keep=*/false), changed);
  // The trace has its own keys again, also for layers that start later.
  ExpectClose(Rerun("none", trace.get(), {24, 24, 24, 24, 23, 23, 23}, /*keep=*/false), clean);
  ExpectClose(Rerun(kChange, trace.get(), {24, 6, 6, 6, 6, 6, 6}, /*keep=*/true), changed);
  ExpectClose(Rerun(kChange, trace.get(), {24, 24, 24, 24, 23, 23, 23}, /*keep=*/true), changed);
}

TEST_F(SharedKeys, SurviveDroppedLayersAndCopiedRows) {
  const auto trace = decoder_->MakeTrace(24);
  const std::vector<float> clean = Logits("none", trace.get());
  const int64_t before = trace->bytes();
  trace->DropLayersBelow(5);
  EXPECT_EQ(trace->bytes(), decoder_->TraceBytes(24, {.first_layer = 5}));
  EXPECT_EQ(before, decoder_->TraceBytes(24, {}));
  ExpectClose(Rerun("none", trace.get(), {24, 24, 24, 24, 24, 23, 23}, /*keep=*/false), clean);
  const auto other = decoder_->MakeTrace(24, /*residual=*/true, /*first_layer=*/5);
  other->TakeRows(*trace, 24);
  ExpectClose(Rerun("none", other.get(), {24, 24, 24, 24, 24, 23, 23}, /*keep=*/false), clean);
  ExpectClose(Rerun(kChange, other.get(), {24, 6, 6, 6, 6, 6, 6}, /*keep=*/true), Logits(kChange));
}

// Collects the layers in which a point exists.
class LayersOf : public Hook {
 public:
  explicit LayersOf(HookSite site) : site_(site) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != site_) return {};
    return {HookAccess::kRead, {0, sequence.rows}};
  }
  void OnActivation(HookView& view) override { layers.push_back(view.point.layer); }
  std::vector<int64_t> layers;

 private:
  HookSite site_;
};

TEST_F(SharedKeys, AreProjectedAndPatchedWhereTheyAreMade) {
  LayersOf keys(HookSite::kKey);
  LayersOf queries(HookSite::kQuery);
  RunRequest request;
  request.ids = ids_;
  request.hooks = {&keys, &queries};
  decoder_->RunOne(request);
  EXPECT_EQ(keys.layers, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(queries.layers.size(), 7u);
  const auto patch = [&](const std::string& arguments) {
    return test::ErrorMessage([&] {
      CompilePlans(ParseIntervention("patch(from=place:1, span=last, " + arguments + ")"),
                   decoder_->config(), 24, 24);
    });
  };
  EXPECT_THAT(patch("what=k, layers=4-6"), HasSubstr("read the keys and values of earlier layers"));
  EXPECT_EQ(patch("what=v, layers=3-6"), "");
  EXPECT_EQ(patch("what=q, layers=6"), "");
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

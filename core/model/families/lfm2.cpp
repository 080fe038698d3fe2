// SPDX-License-Identifier: MIT
// LFM2: most layers are short gated convolutions; the other layers have attention whose queries and
// keys are normed. LFM2-8B-A1B has experts in all layers but the first ones.
#include <algorithm>

#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::lfm2 {
namespace {

// Added to the sum of the chosen experts' scores before the division, as in transformers.
constexpr double kSumEpsilon = 1e-6;

FolderDefaults Defaults(int64_t hidden, int64_t feed_forward) {
  return {.norm_epsilon = 1e-5,
          .norm_epsilon_key = "norm_eps",
          .tied = true,
          .activation_key = "",  // silu in every file
          .rope_base = 1000000.0,
          .layers = 32,
          .hidden = hidden,
          .feed_forward = feed_forward,
          .vocabulary = 65536,
          .heads = 32,
          .key_value_heads = 8,
          .context = 128000};
}

void ReadCommon(const ConfigJson& json, const FolderDefaults& defaults,
                const std::function<bool(int64_t)>& is_convolution, ModelConfig* config) {
  ReadLlamaLike(json, defaults, config);
  // As in transformers, the old name of the key (tie_embedding) has priority.
  config->tied_embeddings = json.Flag("tie_embedding", config->tied_embeddings);
  config->query_key_norm = QueryKeyNorm::kHead;
  config->convolution.taps = json.Count("conv_L_cache", kMostTaps, 3);
  SetRecurrent(ReadLayersOfKind(json, "conv", is_convolution, config->layers), config);
}

// MLP width: 2/3 `stated` * block_ffn_dim_multiplier, rounded up to a multiple of
// block_multiple_of.
int64_t AdjustedWidth(const ConfigJson& json, int64_t stated) {
  constexpr std::string_view kFactor = "block_ffn_dim_multiplier";
  const int64_t width = 2 * stated / 3;
  if (json.IsNull(kFactor)) return width;
  const int64_t multiple = json.Count("block_multiple_of", kMaxWidth, 256);
  const double scaled = json.Positive(kFactor, 1.0) * static_cast<double>(width);
  if (scaled > static_cast<double>(kMaxWidth)) json.Fail(json.Name(kFactor) + " is too large");
  const auto whole = static_cast<int64_t>(scaled);
  return (whole + multiple - 1) / multiple * multiple;
}

void ReadDense(const ConfigJson& json, ModelConfig* config) {
  const std::vector<int64_t> attending = json.Indices("full_attn_idxs", kMaxLayers);
  const auto is_convolution = [&](int64_t layer) {
    return json.Has("full_attn_idxs") &&
           std::find(attending.begin(), attending.end(), layer) == attending.end();
  };
  ReadCommon(json, Defaults(2560, 12288), is_convolution, config);
  config->feed_forward = json.Count("block_ff_dim", kMaxWidth, config->feed_forward);
  if (json.Flag("block_auto_adjust_ff_dim", true))
    config->feed_forward = AdjustedWidth(json, config->feed_forward);
}

void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  if (!json.Has("layer_types")) json.Fail("layer_types is missing");
  ReadCommon(
      json, Defaults(2048, 7168), [](int64_t) { return false; }, config);
  config->experts = {.count = json.Count("num_experts", kMaxExperts, 32),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 4),
                     .width = json.Count("moe_intermediate_size", kMaxWidth, 1792),
                     .score = ExpertScore::kSigmoid,
                     .normalised = json.Flag("norm_topk_prob", true),
                     .sum_epsilon = kSumEpsilon,
                     .choice_bias = json.Flag("use_expert_bias", true),
                     .scale = json.Positive("routed_scaling_factor", 1.0)};
  const int64_t dense = json.CountOrZero("num_dense_layers", kMaxLayers, 2);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers.push_back(layer >= dense);
}

std::vector<TensorPlace> DenseTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "conv_bias", false);
  return {{"token_embedding", "model.embed_tokens"},
          {"output", "lm_head"},
          {"final_norm", "model.embedding_norm"},
          {"N.attention_norm", "model.layers.N.operator_norm"},
          {"N.mlp_norm", "model.layers.N.ffn_norm"},
          {"N.query", "model.layers.N.self_attn.q_proj"},
          {"N.key", "model.layers.N.self_attn.k_proj"},
          {"N.value", "model.layers.N.self_attn.v_proj"},
          {"N.query_norm", "model.layers.N.self_attn.q_layernorm"},
          {"N.key_norm", "model.layers.N.self_attn.k_layernorm"},
          {"N.attention_out", "model.layers.N.self_attn.out_proj"},
          {"N.mixer_in", "model.layers.N.conv.in_proj", RowPart::kAll, bias},
          {"N.mixer_taps", "model.layers.N.conv.conv", RowPart::kTaps, bias},
          {"N.mixer_out", "model.layers.N.conv.out_proj", RowPart::kAll, bias},
          {"N.gate", "model.layers.N.feed_forward.w1"},
          {"N.up", "model.layers.N.feed_forward.w3"},
          {"N.down", "model.layers.N.feed_forward.w2"}};
}

std::vector<TensorPlace> MoeTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = DenseTensors(json);
  AddExpertPlaces({.router = "model.layers.N.feed_forward.gate",
                   .gate = "model.layers.N.feed_forward.experts.E.w1",
                   .up = "model.layers.N.feed_forward.experts.E.w3",
                   .down = "model.layers.N.feed_forward.experts.E.w2",
                   .choice_bias = "model.layers.N.feed_forward.expert_bias"},
                  places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  config->convolution.taps = metadata.Count("shortconv.l_cache", kMostTaps);
  ReadGgufCommon(metadata, config);
  config->query_key_norm = QueryKeyNorm::kHead;
}

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  config->experts = ReadGgufGroupedExperts(metadata, config->layers);
  constexpr int64_t kSigmoid = 2;
  if (metadata.Count("expert_gating_func", 4, kSigmoid) != kSigmoid)
    metadata.Fail(metadata.Key("expert_gating_func") + " is not that of a sigmoid");
  config->experts.score = ExpertScore::kSigmoid;
  config->experts.normalised = true;  // always, as in llama.cpp
  config->experts.sum_epsilon = kSumEpsilon;
  config->experts.choice_bias = true;
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.experts = true});
  ReplacePlace({"final_norm", "token_embd_norm"}, places);
  places.insert(places.end(), {{"N.mixer_in", "blk.N.shortconv.in_proj"},
                               {"N.mixer_taps", "blk.N.shortconv.conv"},
                               {"N.mixer_out", "blk.N.shortconv.out_proj"}});
  return places;
}

}  // namespace

const Family& Lfm2Family() {
  static const Family family = {"lfm2", "lfm2",   ReadDense, DenseTensors,
                                "lfm2", ReadGguf, GgufPlaces};
  return family;
}

const Family& Lfm2MoeFamily() {
  static const Family family = {"lfm2_moe", "lfm2_moe",  ReadMoe,   MoeTensors,
                                "lfm2moe",  ReadMoeGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::lfm2

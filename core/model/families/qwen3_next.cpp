// SPDX-License-Identifier: MIT
// Qwen3-Next and Qwen3.5: three of four layers are gated delta rules (linear attention); the other
// layers have attention with gated outputs. Qwen3-Next and the larger Qwen3.5 models have experts.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::qwen3_next {
namespace {

constexpr double kTurningShare = 0.25;

// Whether a layer has no attention, if the last layer of every `interval` layers has attention.
bool EndsNoInterval(int64_t layer, int64_t interval) { return (layer + 1) % interval != 0; }

// Sets the settings common to folders and GGUF files. recurrent: [layer].
void SetQwen3Next(const std::vector<bool>& recurrent, ModelConfig* config) {
  SetRecurrent(recurrent, config);
  config->query_key_norm = QueryKeyNorm::kHead;
  config->gated_attention = true;
}

void ReadCommon(const ConfigJson& json, FolderDefaults defaults, ModelConfig* config) {
  defaults.read_rope = false;
  defaults.head_dim = 256;
  defaults.context = 32768;
  ReadLlamaLike(json, defaults, config);
  ReadRope(json, RopeObject(json), {.partial = kTurningShare, .text_of_mrope = true}, config);
  config->norm_adds_one = true;
  config->delta_rule = {
      .key_heads = json.Count("linear_num_key_heads", kMaxWidth, 16),
      .value_heads = json.Count("linear_num_value_heads", kMaxWidth, 32),
      .key_dim = json.Count("linear_key_head_dim", kMaxWidth, 128),
      .value_dim = json.Count("linear_value_head_dim", kMaxWidth, 128),
      .taps = json.Count("linear_conv_kernel_dim", kMostTaps, 4),
      .log_decays = true,
  };
  if (config->activation != Activation::kSilu) {
    json.Fail(
        "hidden_act is not silu, which is not supported: it is also the activation of the "
        "convolutions");
  }
  const int64_t interval = json.Count("full_attention_interval", kMaxLayers, 4);
  SetQwen3Next(ReadLayersOfKind(
                   json, "linear_attention",
                   [&](int64_t layer) { return EndsNoInterval(layer, interval); }, config->layers),
               config);
}

void ReadExperts(const ConfigJson& json, int64_t count, int64_t per_row, bool normalised,
                 ModelConfig* config) {
  config->experts = {
      .count = json.Count("num_experts", kMaxExperts, count),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, per_row),
      .width = json.Count("moe_intermediate_size", kMaxWidth, 512),
      .shared_width = json.Count("shared_expert_intermediate_size", kMaxWidth, 512),
      .shared_gate = true,
      .normalised = normalised,
  };
}

void ReadNext(const ConfigJson& json, ModelConfig* config) {
  ReadCommon(json,
             {.layers = 48,
              .hidden = 2048,
              .feed_forward = 5632,
              .vocabulary = 151936,
              .heads = 16,
              .key_value_heads = 2},
             config);
  ReadExperts(json, 512, 10, json.Flag("norm_topk_prob", true), config);
  ReadSparseLayers(json, config);
}

void ReadDense(const ConfigJson& json, ModelConfig* config) {
  ReadCommon(json,
             {.layers = 32,
              .hidden = 4096,
              .feed_forward = 12288,
              .vocabulary = 248320,
              .heads = 16,
              .key_value_heads = 4},
             config);
}

void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  ReadCommon(json,
             {.layers = 40,
              .hidden = 2048,
              .feed_forward = 512,  // files have none, because every layer has experts
              .vocabulary = 248320,
              .heads = 16,
              .key_value_heads = 2},
             config);
  ReadExperts(json, 256, 8, /*normalised=*/true, config);
  config->experts.layers.assign(static_cast<size_t>(config->layers), true);
}

std::vector<TensorPlace> CommonTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  const Bias bias = BiasFlag(json, "attention_bias", false);
  constexpr std::string_view kQuery = "model.layers.N.self_attn.q_proj";
  ReplacePlace({"N.query", kQuery, RowPart::kHeadFirst, bias}, places);
  places.push_back({"N.attention_gate", kQuery, RowPart::kHeadSecond, bias});
  const auto bare = [&](std::string_view name, std::string_view file_name) {
    places.push_back({name, file_name, RowPart::kAll, Bias::kNever, TensorEnding::kBare});
  };
  bare("N.mixer_decay_bias", "model.layers.N.linear_attn.dt_bias");
  bare("N.mixer_decay_scale", "model.layers.N.linear_attn.A_log");
  places.push_back({"N.mixer_taps", "model.layers.N.linear_attn.conv1d", RowPart::kTaps});
  places.push_back({"N.mixer_norm", "model.layers.N.linear_attn.norm"});
  places.push_back({"N.mixer_out", "model.layers.N.linear_attn.out_proj"});
  return places;
}

// Adds the experts of a layer, which are stacked in one tensor or stored as one tensor per expert.
void AddExperts(std::vector<TensorPlace>& places) {
  AddStackedExpertPlaces("model.layers.N.mlp.experts.gate_up_proj",
                         "model.layers.N.mlp.experts.down_proj", Stacked::kPlain,
                         TensorEnding::kBare, places);
  AddExpertPlaces({.shared_gate_proj = "model.layers.N.mlp.shared_expert.gate_proj",
                   .shared_up_proj = "model.layers.N.mlp.shared_expert.up_proj",
                   .shared_down_proj = "model.layers.N.mlp.shared_expert.down_proj",
                   .shared_gate = "model.layers.N.mlp.shared_expert_gate"},
                  places);
}

// Qwen3-Next stores the delta rule's projections grouped by key head in fused tensors.
std::vector<TensorPlace> NextTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = CommonTensors(json);
  constexpr std::string_view kWide = "model.layers.N.linear_attn.in_proj_qkvz";
  constexpr std::string_view kNarrow = "model.layers.N.linear_attn.in_proj_ba";
  places.push_back({"N.mixer_mixed", kWide, RowPart::kGroupedMixed});
  places.push_back({"N.mixer_gate", kWide, RowPart::kGroupedGate});
  places.push_back({"N.mixer_rate", kNarrow, RowPart::kGroupedRate});
  places.push_back({"N.mixer_decay", kNarrow, RowPart::kGroupedDecay});
  AddExperts(places);
  return places;
}

std::vector<TensorPlace> DenseTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = CommonTensors(json);
  places.push_back({"N.mixer_mixed", "model.layers.N.linear_attn.in_proj_qkv"});
  places.push_back({"N.mixer_gate", "model.layers.N.linear_attn.in_proj_z"});
  places.push_back({"N.mixer_rate", "model.layers.N.linear_attn.in_proj_b"});
  places.push_back({"N.mixer_decay", "model.layers.N.linear_attn.in_proj_a"});
  return places;
}

std::vector<TensorPlace> MoeTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = DenseTensors(json);
  AddExperts(places);
  return places;
}

// `tiled`: whether value head v uses key head v % key_heads (DeltaRule::tiled), as the converter
// orders them.
void ReadGguf(const GgufMetadata& metadata, bool tiled, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  ReadGgufPredictionLayers(metadata, config);
  metadata.Ignore("rope.dimension_sections");  // which component of mrope rotates which pairs
  const int64_t value_heads = metadata.Count("ssm.time_step_rank", kMaxWidth);
  const int64_t value_width = metadata.Count("ssm.inner_size", kMaxWidth);
  if (value_width % value_heads != 0)
    metadata.Fail("ssm.inner_size is not a multiple of ssm.time_step_rank");
  config->delta_rule = {
      .key_heads = metadata.Count("ssm.group_count", kMaxWidth),
      .value_heads = value_heads,
      .key_dim = metadata.Count("ssm.state_size", kMaxWidth),
      .value_dim = value_width / value_heads,
      .taps = metadata.Count("ssm.conv_kernel", kMostTaps),
      .tiled = tiled,
  };
  const int64_t interval = metadata.Count("full_attention_interval", kMaxLayers, 4);
  std::vector<bool> recurrent;
  recurrent.reserve(static_cast<size_t>(config->layers));
  for (int64_t layer = 0; layer < config->layers; ++layer)
    recurrent.push_back(EndsNoInterval(layer, interval));
  SetQwen3Next(recurrent, config);
  config->experts = ReadGgufExperts(metadata, config->layers);
  if (config->experts.count == 0) return;
  config->experts.shared_width = metadata.Count("expert_shared_feed_forward_length", kMaxWidth);
  config->experts.shared_gate = true;
  config->experts.normalised = true;
}

void ReadNextGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, /*tiled=*/false, config);
}

void ReadTiledGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, /*tiled=*/true, config);
}

std::vector<TensorPlace> CommonGgufTensors() {
  std::vector<TensorPlace> places = GgufTensors({.attention = Bias::kMay, .experts = true});
  ReplacePlace({"N.mlp_norm", "blk.N.post_attention_norm"}, places);
  ReplacePlace({"N.query", "blk.N.attn_q", RowPart::kHeadFirst, Bias::kMay}, places);
  places.insert(
      places.end(),
      {{"N.attention_gate", "blk.N.attn_q", RowPart::kHeadSecond, Bias::kMay},
       {"N.mixer_mixed", "blk.N.attn_qkv"},
       {"N.mixer_gate", "blk.N.attn_gate"},
       {"N.mixer_decay_bias", "blk.N.ssm_dt.bias", RowPart::kAll, Bias::kNever,
        TensorEnding::kBare},
       {"N.mixer_decay_scale", "blk.N.ssm_a", RowPart::kAll, Bias::kNever, TensorEnding::kBare},
       {"N.mixer_taps", "blk.N.ssm_conv1d"},
       {"N.mixer_norm", "blk.N.ssm_norm"},
       {"N.mixer_out", "blk.N.ssm_out"}});
  return places;
}

std::vector<TensorPlace> NextGgufTensors() {
  std::vector<TensorPlace> places = CommonGgufTensors();
  places.push_back({"N.mixer_rate", "blk.N.ssm_ba", RowPart::kGroupedRate});
  places.push_back({"N.mixer_decay", "blk.N.ssm_ba", RowPart::kGroupedDecay});
  return places;
}

std::vector<TensorPlace> TiledGgufTensors() {
  std::vector<TensorPlace> places = CommonGgufTensors();
  places.push_back({"N.mixer_rate", "blk.N.ssm_beta"});
  places.push_back({"N.mixer_decay", "blk.N.ssm_alpha"});
  return places;
}

}  // namespace

const Family& Qwen3NextFamily() {
  static const Family family = {"qwen3_next", "qwen3_next", ReadNext,       NextTensors,
                                "qwen3next",  ReadNextGguf, NextGgufTensors};
  return family;
}

const Family& Qwen35Family() {
  static const Family family = {"qwen3_5", "qwen3_5_text", ReadDense,       DenseTensors,
                                "qwen35",  ReadTiledGguf,  TiledGgufTensors};
  return family;
}

const Family& Qwen35MoeFamily() {
  static const Family family = {"qwen3_5_moe", "qwen3_5_moe_text", ReadMoe,         MoeTensors,
                                "qwen35moe",   ReadTiledGguf,      TiledGgufTensors};
  return family;
}

}  // namespace midscope::qwen3_next

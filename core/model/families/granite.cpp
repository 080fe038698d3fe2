// SPDX-License-Identifier: MIT
// Granite 3: llama with separate factors for embeddings, attention, updates of the residual stream
// and logits. Some models have experts in every layer, with or without a shared expert. Granite 4
// is similar; in its H models most layers are state spaces (Mamba-2), and attention has no
// positions. Bamba: such layers in a llama in which half of each head is rotated.
#include <algorithm>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::granite {
namespace {

void ReadFactors(const ConfigJson& json, ModelConfig* config) {
  config->embedding_scale = json.Positive("embedding_multiplier", 1.0);
  config->logit_scale = json.Positive("attention_multiplier", 1.0);
  config->update_scale = json.Positive("residual_multiplier", 1.0);
  config->output_scale = 1.0 / json.Positive("logits_scaling", 1.0);
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  ReadFactors(json, config);
}

// Default sizes in config.json of the models that may have experts.
constexpr FolderDefaults kSizes = {.layers = 32,
                                   .hidden = 4096,
                                   .feed_forward = 11008,
                                   .vocabulary = 32000,
                                   .heads = 32,
                                   .context = 2048};

// In transformers, the softmax of chosen logits normalises the scores: the result is equal.
void ReadExperts(const ConfigJson& json, int64_t count, int64_t shared_width, ModelConfig* config) {
  config->experts = {.count = count,
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 2),
                     .width = config->feed_forward,
                     .shared_width = shared_width,
                     .normalised = true,
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, kSizes, config);
  ReadFactors(json, config);
  ReadExperts(json, json.Count("num_local_experts", kMaxExperts, 8), 0, config);
}

void ReadMoeShared(const ConfigJson& json, ModelConfig* config) {
  ReadMoe(json, config);
  config->experts.shared_width = json.CountOrZero("shared_intermediate_size", kMaxWidth, 0);
}

constexpr std::string_view kSharedGateUp = "model.layers.N.shared_mlp.input_linear";
constexpr std::string_view kSharedDown = "model.layers.N.shared_mlp.output_linear";

void AddMoePlaces(std::vector<TensorPlace>& places) {
  AddStackedExpertPlaces("model.layers.N.block_sparse_moe.input_linear",
                         "model.layers.N.block_sparse_moe.output_linear", Stacked::kPlain,
                         TensorEnding::kWeight, places);
  AddExpertPlaces({.router = "model.layers.N.block_sparse_moe.router.layer"}, places);
  places.push_back({"N.shared.gate", kSharedGateUp, RowPart::kGate});
  places.push_back({"N.shared.up", kSharedGateUp, RowPart::kUp});
  places.push_back({"N.shared.down", kSharedDown});
}

std::vector<TensorPlace> MoeTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddMoePlaces(places);
  return places;
}

void ReadPositions(const ConfigJson& json, ModelConfig* config) {
  const std::string kind = json.Text("position_embedding_type", "nope");
  if (kind == "rope") return ReadRope(json, RopeObject(json), {}, config);
  if (kind != "nope") {
    json.Fail("position_embedding_type is " + Quote(kind) + ", which is not supported yet",
              "Supported: rope, nope");
  }
  SetUnrotated(PositionKind::kNone, config);
}

StateSpace ReadExpandedStateSpace(const ConfigJson& json, const ModelConfig& config) {
  return ReadFolderStateSpace(json, json.Count("mamba_expand", kMaxWidth, 2) * config.hidden,
                              config);
}

void ReadHybridFolder(const ConfigJson& json, ModelConfig* config) {
  FolderDefaults defaults = kSizes;
  defaults.read_rope = false;
  ReadLlamaLike(json, defaults, config);
  ReadPositions(json, config);
  ReadFactors(json, config);
  const std::vector<bool> recurrent = ReadLayersOfKind(
      json, "linear_attention", [](int64_t) { return true; }, config->layers);
  if (std::find(recurrent.begin(), recurrent.end(), true) != recurrent.end())
    config->state_space = ReadExpandedStateSpace(json, *config);
  SetRecurrent(recurrent, config);
  const int64_t shared = json.Count("shared_intermediate_size", kMaxWidth, 1024);
  const int64_t count = json.CountOrZero("num_local_experts", kMaxExperts, 8);
  if (count == 0) {
    config->feed_forward = shared;
  } else {
    ReadExperts(json, count, shared, config);
  }
}

std::vector<TensorPlace> HybridTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddFolderStateSpacePlaces(json, BiasFlag(json, "mamba_proj_bias", false), places);
  ReplacePlace({"N.gate", kSharedGateUp, RowPart::kGate}, places);
  ReplacePlace({"N.up", kSharedGateUp, RowPart::kUp}, places);
  ReplacePlace({"N.down", kSharedDown}, places);
  AddMoePlaces(places);
  return places;
}

void ReadBamba(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .partial_rotary = 0.5,
                 .layers = 32,
                 .hidden = 4096,
                 .feed_forward = 14336,
                 .vocabulary = 128000,
                 .heads = 32,
                 .key_value_heads = 8,
                 .context = 262144},
                config);
  std::vector<bool> recurrent(static_cast<size_t>(config->layers), true);
  for (const int64_t layer : json.Indices("attn_layer_indices", config->layers - 1))
    recurrent[static_cast<size_t>(layer)] = false;
  config->state_space = ReadExpandedStateSpace(json, *config);
  SetRecurrent(recurrent, config);
}

std::vector<TensorPlace> BambaTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = HybridTensors(json);
  const Bias bias = BiasFlag(json, "mlp_bias", false);
  const auto replace = [&](std::string_view name, std::string_view file_name, Bias with) {
    ReplacePlace({name, file_name, RowPart::kAll, with}, places);
  };
  replace("final_norm", "model.final_layernorm", Bias::kNever);
  replace("N.mlp_norm", "model.layers.N.pre_ff_layernorm", Bias::kNever);
  replace("N.gate", "model.layers.N.feed_forward.gate_proj", bias);
  replace("N.up", "model.layers.N.feed_forward.up_proj", bias);
  replace("N.down", "model.layers.N.feed_forward.down_proj", bias);
  return places;
}

void ReadGgufGranite(const GgufMetadata& metadata, double logit_divisor, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  // rope.scaling.finetuned is false in GGUF files of models without rotary positions (llama.cpp).
  if (!metadata.Flag("rope.scaling.finetuned", true)) SetUnrotated(PositionKind::kNone, config);
  config->embedding_scale = metadata.Positive("embedding_scale", 1.0);
  config->logit_scale = metadata.PositiveOrZero("attention.scale");
  config->update_scale = metadata.Positive("residual_scale", 1.0);
  config->output_scale = 1.0 / logit_divisor;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufGranite(metadata, metadata.Positive("logit_scale"), config);
  // Files of Granite 4 without state spaces contain the following keys nevertheless.
  for (const char* key : {"ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.inner_size",
                          "ssm.time_step_rank", "expert_shared_feed_forward_length"})
    metadata.Ignore(key);
}

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufGranite(metadata, metadata.Positive("logit_scale"), config);
  config->experts = ReadGgufExperts(metadata, config->layers, config->feed_forward);
  RequireGgufExperts(metadata);
  config->experts.normalised = true;
  config->experts.shared_width =
      metadata.CountOrZero("expert_shared_feed_forward_length", kMaxWidth);
}

void ReadHybridGguf(const GgufMetadata& metadata, ModelConfig* config) {
  config->state_space = ReadGgufStateSpace(metadata);
  ReadGgufGranite(metadata, metadata.Positive("logit_scale", 1.0), config);
  metadata.Ignore("expert_shared_feed_forward_length");  // read below if it matters
  config->experts = ReadGgufExperts(metadata, config->layers, config->feed_forward);
  if (config->experts.count == 0) return;
  config->experts.shared_width = metadata.Count("expert_shared_feed_forward_length", kMaxWidth);
  config->experts.normalised = true;
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors(kLlamaGguf); }

std::vector<TensorPlace> MoeGgufPlaces() {
  GgufLayout layout = kLlamaGguf;
  layout.experts = true;
  return GgufTensors(layout);
}

std::vector<TensorPlace> HybridGgufPlaces() {
  std::vector<TensorPlace> places = MoeGgufPlaces();
  AddGgufStateSpacePlaces(places);
  return places;
}

}  // namespace

const Family& GraniteFamily() {
  static const Family family = {"granite", "granite", ReadFolder, TensorsByBiases,
                                "granite", ReadGguf,  GgufPlaces};
  return family;
}

const Family& GraniteMoeFamily() {
  static const Family family = {"granitemoe", "granitemoe", ReadMoe,      MoeTensors,
                                "granitemoe", ReadMoeGguf,  MoeGgufPlaces};
  return family;
}

const Family& GraniteMoeSharedFamily() {
  static const Family family = {
      "granitemoeshared", "granitemoeshared", ReadMoeShared, MoeTensors, "", nullptr, nullptr};
  return family;
}

const Family& GraniteHybridFamily() {
  static const Family family = {"granite_hybrid", "granitemoehybrid", ReadHybridFolder,
                                HybridTensors,    "granitehybrid",    ReadHybridGguf,
                                HybridGgufPlaces};
  return family;
}

const Family& BambaFamily() {
  static const Family family = {"bamba", "bamba", ReadBamba, BambaTensors, "", nullptr, nullptr};
  return family;
}

}  // namespace midscope::granite

// SPDX-License-Identifier: MIT
// Granite 3: llama with separate factors for embeddings, attention, updates and logits; some have
// experts in every layer, with or without one that every token uses.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
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

// transformers divides scores by their sum by taking the softmax of the chosen experts alone.
void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.layers = 32,
                 .hidden = 4096,
                 .feed_forward = 11008,
                 .vocabulary = 32000,
                 .heads = 32,
                 .context = 2048},
                config);
  ReadFactors(json, config);
  config->experts = {.count = json.Count("num_local_experts", kMaxExperts, 8),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 2),
                     .width = config->feed_forward,
                     .normalised = true,
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

void ReadMoeShared(const ConfigJson& json, ModelConfig* config) {
  ReadMoe(json, config);
  config->experts.shared_width = json.CountOrZero("shared_intermediate_size", kMaxWidth, 0);
}

std::vector<TensorPlace> MoeTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddStackedExpertPlaces("model.layers.N.block_sparse_moe.input_linear",
                         "model.layers.N.block_sparse_moe.output_linear", Stacked::kPlain,
                         TensorEnding::kWeight, places);
  AddExpertPlaces({.router = "model.layers.N.block_sparse_moe.router.layer"}, places);
  constexpr std::string_view kShared = "model.layers.N.shared_mlp.input_linear";
  places.push_back({"N.shared.gate", kShared, RowPart::kGate});
  places.push_back({"N.shared.up", kShared, RowPart::kUp});
  places.push_back({"N.shared.down", "model.layers.N.shared_mlp.output_linear"});
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.mlp = BiasFlag(json, "mlp_bias", false)});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  if (!metadata.Flag("rope.scaling.finetuned", true)) {
    metadata.Fail(metadata.Key("rope.scaling.finetuned") +
                  " is false, which means no positions; this is not supported yet");
  }
  config->embedding_scale = metadata.Positive("embedding_scale", 1.0);
  config->logit_scale = metadata.PositiveOrZero("attention.scale");
  config->update_scale = metadata.Positive("residual_scale", 1.0);
  config->output_scale = 1.0 / metadata.Positive("logit_scale");
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors(kLlamaGguf); }

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  config->experts = ReadGgufExperts(metadata, config->layers, config->feed_forward);
  if (config->experts.count == 0) metadata.Fail("it has no experts, which is not supported");
  config->experts.normalised = true;
  config->experts.shared_width =
      metadata.CountOrZero("expert_shared_feed_forward_length", kMaxWidth);
}

std::vector<TensorPlace> MoeGgufPlaces() {
  GgufLayout layout = kLlamaGguf;
  layout.experts = true;
  return GgufTensors(layout);
}

}  // namespace

const Family& GraniteFamily() {
  static const Family family = {"granite", "granite", ReadFolder, FolderTensors,
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

}  // namespace midscope::granite

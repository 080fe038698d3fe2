// SPDX-License-Identifier: MIT
// GPT-NeoX and Pythia: LayerNorm and biases throughout, a part of each head is rotated, attention
// and MLP are parallel.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::gpt_neox {
namespace {

void SetNeox(ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = json.Count("num_hidden_layers", kMaxLayers);
  config->hidden = json.Count("hidden_size", kMaxWidth);
  config->feed_forward = json.Count("intermediate_size", kMaxWidth);
  config->vocabulary = json.Count("vocab_size", kMaxTokens);
  config->heads = json.Count("num_attention_heads", kMaxWidth);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context = json.Count("max_position_embeddings", kMaxTokens);
  config->norm_epsilon = json.Positive("layer_norm_eps", 1e-5);
  config->activation = ReadActivation(json, "hidden_act", "gelu");
  config->tied_embeddings = json.Flag("tie_word_embeddings", false);
  config->parallel_residual = json.Flag("use_parallel_residual", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  SetNeox(config);
  ReadRope(json, RopeObject(json),
           {.partial = 0.25, .base_key = "rotary_emb_base", .partial_key = "rotary_pct"}, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias attention = BiasFlag(json, "attention_bias", true);
  constexpr std::string_view kFused = "gpt_neox.layers.N.attention.query_key_value";
  return {{"token_embedding", "gpt_neox.embed_in"},
          {"output", "embed_out"},
          {"final_norm", "gpt_neox.final_layer_norm", RowPart::kAll, Bias::kMust},
          {"N.attention_norm", "gpt_neox.layers.N.input_layernorm", RowPart::kAll, Bias::kMust},
          {"N.mlp_norm", "gpt_neox.layers.N.post_attention_layernorm", RowPart::kAll, Bias::kMust},
          {"N.query", kFused, RowPart::kHeadQuery, attention},
          {"N.key", kFused, RowPart::kHeadKey, attention},
          {"N.value", kFused, RowPart::kHeadValue, attention},
          {"N.attention_out", "gpt_neox.layers.N.attention.dense", RowPart::kAll, attention},
          {"N.up", "gpt_neox.layers.N.mlp.dense_h_to_4h", RowPart::kAll, Bias::kMust},
          {"N.down", "gpt_neox.layers.N.mlp.dense_4h_to_h", RowPart::kAll, Bias::kMust}};
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  SetNeox(config);
  // GGUF does not specify the variant of GELU; Pythia, the family's most used models, uses the
  // exact one.
  config->activation = Activation::kGelu;
  config->parallel_residual = metadata.Flag("use_parallel_residual", true);
}

// The converter has reordered the rows of query_key_value to [queries; keys; values].
std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.fused_attention = true,
                      .attention = Bias::kMay,
                      .attention_out = Bias::kMay,
                      .mlp = Bias::kMust,
                      .norms = Bias::kMust});
}

}  // namespace

const Family& GptNeoxFamily() {
  static const Family family = {
      "gpt_neox", "gpt_neox", ReadFolder, FolderTensors,
      "gptneox",  ReadGguf,   GgufPlaces, {".attention.bias", ".attention.masked_bias"}};
  return family;
}

}  // namespace midscope::gpt_neox

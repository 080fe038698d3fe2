// SPDX-License-Identifier: MIT
// StableLM: LayerNorm; a part of each head is rotated. StableLM 2 12B has parallel attention and
// MLP after one norm, and query and key norms with separate weights per head.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::stablelm {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(
      json, {.norm_epsilon = 1e-5, .norm_epsilon_key = "layer_norm_eps", .partial_rotary = 0.25},
      config);
  if (json.Flag("qk_layernorm", false)) config->query_key_norm = QueryKeyNorm::kEachHead;
  config->norm = NormKind::kLayer;
  config->parallel_residual = json.Flag("use_parallel_residual", false);
  config->shared_norm = config->parallel_residual;
}

// Norms of queries and keys have no biases.
std::vector<TensorPlace> WithNorms(std::vector<TensorPlace> places, std::string_view query,
                                   std::string_view key) {
  ReplacePlace({"N.query_norm", query}, places);
  ReplacePlace({"N.key_norm", key}, places);
  return places;
}

// The norms of a layer's query or key heads have been joined into one tensor (JoinNormsOfHeads).
std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return WithNorms(
      LlamaLikeTensors({.attention = BiasFlag(json, "use_qkv_bias", false), .norms = Bias::kMust}),
      "model.layers.N.self_attn.q_layernorm", "model.layers.N.self_attn.k_layernorm");
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  config->norm = NormKind::kLayer;
  // The converter writes true for an absent key, which means false in transformers. As in
  // llama.cpp, the existence of the MLP's norm decides instead.
  metadata.Ignore("use_parallel_residual");
  config->parallel_residual = metadata.file().Find("blk.0.ffn_norm.weight") == nullptr;
  config->shared_norm = config->parallel_residual;
  if (metadata.file().Find("blk.0.attn_q_norm.weight") != nullptr)
    config->query_key_norm = QueryKeyNorm::kEachHead;
}

std::vector<TensorPlace> GgufPlaces() {
  return WithNorms(GgufTensors({.attention = Bias::kMay, .norms = Bias::kMust}),
                   "blk.N.attn_q_norm", "blk.N.attn_k_norm");
}

}  // namespace

const Family& StableLmFamily() {
  static const Family family = {"stablelm", "stablelm", ReadFolder, FolderTensors,
                                "stablelm", ReadGguf,   GgufPlaces};
  return family;
}

}  // namespace midscope::stablelm

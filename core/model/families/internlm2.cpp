// SPDX-License-Identifier: MIT
// InternLM2: llama with different names; query, key and value are fused per key-value head.
// transformers has no class for it; the names follow the code published with the model files
// (modeling_internlm2.py).
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::internlm2 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-6}, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "bias", true);
  constexpr std::string_view kFused = "model.layers.N.attention.wqkv";
  return {{"token_embedding", "model.tok_embeddings"},
          {"output", "output"},
          {"final_norm", "model.norm"},
          {"N.attention_norm", "model.layers.N.attention_norm"},
          {"N.mlp_norm", "model.layers.N.ffn_norm"},
          {"N.query", kFused, RowPart::kHeadQuery, bias},
          {"N.key", kFused, RowPart::kHeadKey, bias},
          {"N.value", kFused, RowPart::kHeadValue, bias},
          {"N.attention_out", "model.layers.N.attention.wo", RowPart::kAll, bias},
          {"N.gate", "model.layers.N.feed_forward.w1"},
          {"N.up", "model.layers.N.feed_forward.w3"},
          {"N.down", "model.layers.N.feed_forward.w2"}};
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay});
}

}  // namespace

const Family& InternLm2Family() {
  static const Family family = {"internlm2", "internlm2",    ReadFolder, FolderTensors,
                                "internlm2", ReadGgufCommon, GgufPlaces};
  return family;
}

}  // namespace midscope::internlm2

// SPDX-License-Identifier: MIT
// StableLM: LayerNorm, a part of each head rotated; in some files attention and MLP side by side
// after one norm.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(
      json, {.norm_epsilon = 1e-5, .norm_epsilon_key = "layer_norm_eps", .partial_rotary = 0.25},
      config);
  if (json.Flag("qk_layernorm", false))
    json.Fail("qk_layernorm is true, which is not supported yet");
  config->norm = NormKind::kLayer;
  config->parallel_residual = json.Flag("use_parallel_residual", false);
  config->shared_norm = config->parallel_residual;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return LlamaLikeTensors(
      {.attention = BiasFlag(json, "use_qkv_bias", false), .norms = Bias::kMust});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  config->norm = NormKind::kLayer;
  // The converter writes true where config.json has no such key, which transformers takes for
  // false. llama.cpp goes by the tensor.
  metadata.Ignore("use_parallel_residual");
  config->parallel_residual = metadata.file().Find("blk.0.ffn_norm.weight") == nullptr;
  config->shared_norm = config->parallel_residual;
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.attention = Bias::kMay, .norms = Bias::kMust});
}

}  // namespace

const Family& StableLmFamily() {
  static const Family family = {"stablelm", "stablelm", ReadFolder, FolderTensors,
                                "stablelm", ReadGguf,   GgufPlaces};
  return family;
}

}  // namespace midscope

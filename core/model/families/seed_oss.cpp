// SPDX-License-Identifier: MIT
// Seed-OSS: llama with biases of query, key and value.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::seed_oss {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.head_dim = 128}, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return LlamaLikeTensors({.attention = BiasFlag(json, "attention_bias", true),
                           .attention_out = BiasFlag(json, "attention_out_bias", false),
                           .mlp = BiasFlag(json, "mlp_bias", false)});
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places =
      GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay, .mlp = Bias::kMay});
  ReplacePlace({"N.mlp_norm", "blk.N.post_attention_norm"}, places);
  return places;
}

}  // namespace

const Family& SeedOssFamily() {
  static const Family family = {"seed_oss", "seed_oss",     ReadFolder, FolderTensors,
                                "seed_oss", ReadGgufCommon, GgufPlaces};
  return family;
}

}  // namespace midscope::seed_oss

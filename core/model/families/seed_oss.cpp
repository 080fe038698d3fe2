// SPDX-License-Identifier: MIT
// Seed-OSS: llama with biases of query, key and value.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.head_dim = 128}, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return LlamaLikeTensors({.attention = BiasFlag(json, "attention_bias", true),
                           .attention_out = BiasFlag(json, "attention_out_bias", false),
                           .mlp = BiasFlag(json, "mlp_bias", false)});
}

}  // namespace

const Family& SeedOssFamily() {
  static const Family family = {"seed_oss", "seed_oss", ReadFolder, FolderTensors,
                                "",         nullptr,    nullptr};
  return family;
}

}  // namespace midscope

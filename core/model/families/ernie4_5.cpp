// SPDX-License-Identifier: MIT
// Ernie 4.5 without experts: llama with adjacent rotated pairs.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::ernie4_5 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .tied = true,
                 .rope_base = 500000.0,
                 .head_dim = 128,
                 .key_value_heads = 2},
                config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "use_bias", false);
  return LlamaLikeTensors(
      {.attention = bias, .attention_out = bias, .mlp = bias, .interleaved = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors(kLlamaGguf); }

}  // namespace

const Family& Ernie45Family() {
  static const Family family = {"ernie4_5", "ernie4_5", ReadFolder, FolderTensors,
                                "ernie4_5", ReadGguf,   GgufPlaces};
  return family;
}

}  // namespace midscope::ernie4_5

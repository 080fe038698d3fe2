// SPDX-License-Identifier: MIT
// Phi-3 and Phi-4: fused projections, longrope; a part of each head is rotated.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::phi3 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .partial_rotary = 1.0}, config);
  SetWindow(json.Has("sliding_window") ? json.Count("sliding_window", kMaxTokens) : 0, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return LlamaLikeTensors({.fused = true, .fused_gate_up = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  SetWindow(metadata.CountOrZero("attention.sliding_window", kMaxTokens), config);
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.fused_attention = true, .fused_gate_up = true});
}

}  // namespace

const Family& Phi3Family() {
  static const Family family = {"phi3", "phi3",   ReadFolder, FolderTensors,
                                "phi3", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::phi3

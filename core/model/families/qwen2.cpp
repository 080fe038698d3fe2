// SPDX-License-Identifier: MIT
// Qwen1.5, Qwen2, Qwen2.5: biases on query, key and value.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/qwen_window.h"

namespace midscope::qwen2 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(
      json, {.layers = 32, .hidden = 4096, .feed_forward = 22016, .heads = 32, .context = 32768},
      config);
  ReadQwenWindow(json, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return LlamaLikeTensors({.attention = Bias::kMust});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.attention = Bias::kMust}); }

}  // namespace

const Family& Qwen2Family() {
  static const Family family = {"qwen2", "qwen2",  ReadFolder, FolderTensors,
                                "qwen2", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::qwen2

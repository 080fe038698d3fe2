// SPDX-License-Identifier: MIT
// Qwen1.5, Qwen2, Qwen2.5: biases on query, key and value. The text part of Qwen2.5-VL and Qwen2-VL
// has other defaults; its positions have three components (mrope), which are equal for text.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"

namespace midscope::qwen2 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(
      json, {.layers = 32, .hidden = 4096, .feed_forward = 22016, .heads = 32, .context = 32768},
      config);
  ReadQwenWindow(json, config);
}

void ReadVlFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .read_rope = false,
                 .layers = 80,
                 .hidden = 8192,
                 .feed_forward = 29568,
                 .vocabulary = 152064,
                 .heads = 64,
                 .key_value_heads = 8,
                 .context = 32768},
                config);
  ReadRope(json, RopeObject(json), {.base = 1000000.0, .text_of_mrope = true}, config);
  ReadQwenWindow(json, config, 80);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return LlamaLikeTensors({.attention = Bias::kMust});
}

void ReadVlGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  metadata.Ignore("rope.dimension_sections");  // which component of mrope rotates which pairs
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.attention = Bias::kMust}); }

}  // namespace

const Family& Qwen2Family() {
  static const Family family = {"qwen2", "qwen2",        ReadFolder, FolderTensors,
                                "qwen2", ReadGgufCommon, GgufPlaces};
  return family;
}

const Family& Qwen25VlFamily() {
  static const Family family = {"qwen2_5_vl", "qwen2_5_vl_text", ReadVlFolder, FolderTensors,
                                "qwen2vl",    ReadVlGguf,        GgufPlaces};
  return family;
}

}  // namespace midscope::qwen2

// SPDX-License-Identifier: MIT
// The text part of Qwen2.5-VL and Qwen2-VL: qwen2 with other defaults. Its positions have three
// parts (mrope), which are equal for text, so that they act as one.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/qwen_window.h"
#include "core/model/families/rope_settings.h"

namespace midscope::qwen2_5_vl {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
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

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  metadata.Ignore("rope.dimension_sections");  // which part of the positions rotates which pairs
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.attention = Bias::kMust}); }

}  // namespace

const Family& Qwen25VlFamily() {
  static const Family family = {"qwen2_5_vl", "qwen2_5_vl_text", ReadFolder, FolderTensors,
                                "qwen2vl",    ReadGguf,          GgufPlaces};
  return family;
}

}  // namespace midscope::qwen2_5_vl

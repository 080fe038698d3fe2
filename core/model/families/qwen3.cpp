// SPDX-License-Identifier: MIT
// Qwen3: norms of each head's query and key. The text part of Qwen3-VL is the same; its positions
// have three components (mrope), which are equal for text.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"

namespace midscope::qwen3 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.head_dim = 128,
                 .layers = 32,
                 .hidden = 4096,
                 .feed_forward = 22016,
                 .heads = 32,
                 .context = 32768},
                config);
  ReadQwenWindow(json, config);
  config->query_key_norm = QueryKeyNorm::kHead;
}

void ReadVl(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.read_rope = false,
                 .head_dim = 128,
                 .layers = 32,
                 .hidden = 4096,
                 .feed_forward = 22016,
                 .vocabulary = 151936,
                 .heads = 32,
                 .key_value_heads = 32,
                 .context = 128000},
                config);
  ReadRope(json, RopeObject(json), {.base = 500000.0, .text_of_mrope = true}, config);
  config->query_key_norm = QueryKeyNorm::kHead;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json);
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->query_key_norm = QueryKeyNorm::kHead;
}

void ReadVlGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  metadata.Ignore("rope.dimension_sections");  // which component of mrope rotates which pairs
  metadata.Ignore("n_deepstack_layers");       // the first layers add pictures' features
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.attention = Bias::kMay}); }

}  // namespace

const Family& Qwen3Family() {
  static const Family family = {"qwen3", "qwen3",  ReadFolder, FolderTensors,
                                "qwen3", ReadGguf, GgufPlaces};
  return family;
}

const Family& Qwen3VlFamily() {
  static const Family family = {"qwen3_vl", "qwen3_vl_text", ReadVl,    FolderTensors,
                                "qwen3vl",  ReadVlGguf,      GgufPlaces};
  return family;
}

}  // namespace midscope::qwen3

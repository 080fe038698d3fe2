// SPDX-License-Identifier: MIT
// Gemma 3, text only: five of six layers have a sliding window and a separate rotary base without
// scaling; each head's query and key are normed.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/gemma_common.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::gemma3 {
namespace {

constexpr int64_t kPattern = 6;  // every sixth layer has global attention
constexpr int64_t kWindow = 4096;
constexpr int64_t kLayersOf27B = 62;
constexpr double kBase = 1000000.0;
constexpr double kLocalBase = 10000.0;

void SetLocal(ModelConfig* config) {
  config->query_key_norm = QueryKeyNorm::kHead;
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.tied = true,
                 .activation = "gelu_pytorch_tanh",
                 .activation_key = "hidden_activation",
                 .read_rope = false,
                 .head_dim = 256,
                 // Config files of Gemma3ForConditionalGeneration omit most of the following keys.
                 .layers = 26,
                 .hidden = 2304,
                 .feed_forward = 9216,
                 .vocabulary = 262208,
                 .heads = 8,
                 .key_value_heads = 4,
                 .context = 131072},
                config);
  if (json.Flag("use_bidirectional_attention", false))
    json.Fail("use_bidirectional_attention is true, which is not supported");
  ReadRopesByLayerType(json, kBase, json.Positive("rope_local_base_freq", kLocalBase), config);
  ReadGemma2Folder(json, std::nullopt, 0.0, config);
  const int64_t window = json.Count("sliding_window", kMaxTokens, kWindow);
  const int64_t pattern = json.Count("sliding_window_pattern", kMaxLayers,
                                     json.Count("_sliding_window_pattern", kMaxLayers, kPattern));
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; },
      pattern, config);
  SetLocal(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.output_norms = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGemma2Gguf(metadata, std::nullopt, 0.0, kLayersOf27B, config);
  if (!metadata.Has("rope.freq_base")) config->rope_base = kBase;
  config->rope_local_base = metadata.Positive("rope.freq_base_swa", kLocalBase);
  metadata.Count("attention.sliding_window", kMaxTokens);  // the key is required
  ReadGgufWindows(metadata, kPattern, config);
  SetLocal(config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Gemma3Family() {
  static const Family family = {"gemma3", "gemma3_text", ReadFolder, FolderTensors,
                                "gemma3", ReadGguf,      GgufPlaces};
  return family;
}

}  // namespace midscope::gemma3

// SPDX-License-Identifier: MIT
// Gemma 2: soft caps, a sliding window in every other layer, norms before and after attention and
// MLP. VaultGemma has only the norms before them.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/gemma_common.h"
#include "core/model/model_shapes.h"

namespace midscope::gemma2 {
namespace {

constexpr double kAttentionCap = 50.0;
constexpr double kFinalCap = 30.0;
constexpr int64_t kWindow = 4096;
constexpr int64_t kLayersOf27B = 46;

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.tied = true,
                 .activation = "gelu_pytorch_tanh",
                 .activation_key = "hidden_activation",
                 .head_dim = 256,
                 .layers = 26,
                 .hidden = 2304,
                 .feed_forward = 9216,
                 .vocabulary = 256000,
                 .heads = 8,
                 .key_value_heads = 4,
                 .context = 8192},
                config);
  ReadGemma2Folder(json, kAttentionCap, kFinalCap, config);
  const int64_t window =
      json.IsNull("sliding_window") ? 0 : json.Count("sliding_window", kMaxTokens, kWindow);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t) { return layer % 2 == 0; }, 0, config);
}

void ReadVault(const ConfigJson& json, ModelConfig* config) {
  ReadFolder(json, config);
  config->output_norms = false;
}

std::vector<TensorPlace> VaultTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  ReplacePlace({"N.mlp_norm", "model.layers.N.pre_feedforward_layernorm"}, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.output_norms = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGemma2Gguf(metadata, kAttentionCap, kFinalCap, kLayersOf27B, config);
  const int64_t window = metadata.Count("attention.sliding_window", kMaxTokens, kWindow);
  for (int64_t layer = 0; layer < config->layers; layer += 2) {
    config->attention[static_cast<size_t>(layer)].window = window;
  }
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Gemma2Family() {
  static const Family family = {"gemma2", "gemma2", ReadFolder, FolderTensors,
                                "gemma2", ReadGguf, GgufPlaces};
  return family;
}

const Family& VaultGemmaFamily() {
  static const Family family = {"vaultgemma", "vaultgemma", ReadVault, VaultTensors,
                                "",           nullptr,      nullptr};
  return family;
}

}  // namespace midscope::gemma2

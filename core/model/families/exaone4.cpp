// SPDX-License-Identifier: MIT
// EXAONE 4: norms only after attention and MLP, query and key normed over each head; the large
// model has a window in three of four layers, and no positions in the others.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::exaone4 {
namespace {

constexpr int64_t kWindow = 4096;

constexpr int64_t kPattern = 4;  // every fourth layer sees all keys

void SetNorms(ModelConfig* config) {
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kHead;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  SetNorms(config);
  const int64_t window = ReadWindow(json, kWindow);
  if (window == 0) return;
  // Files with layer_types may state the pattern as letters.
  const int64_t pattern = json.Has("layer_types")
                              ? kPattern
                              : json.Count("sliding_window_pattern", kMaxLayers, kPattern);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; },
      pattern, config);
  RotateInWindowsAlone(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return LlamaLikeTensors({.output_norms = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  SetNorms(config);
  ReadGgufWindows(metadata, kPattern, config);
  if (metadata.Has("attention.sliding_window")) RotateInWindowsAlone(config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Exaone4Family() {
  static const Family family = {"exaone4", "exaone4", ReadFolder, FolderTensors,
                                "exaone4", ReadGguf,  GgufPlaces};
  return family;
}

}  // namespace midscope::exaone4

// SPDX-License-Identifier: MIT
// OLMo 3: OLMo 2 with a window in three of four layers, which rotate without the scaling of the
// other layers.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"

namespace midscope::olmo3 {
namespace {

constexpr int64_t kWindow = 4096;
constexpr int64_t kPattern = 4;  // every fourth layer sees all keys
constexpr double kBase = 500000.0;

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .read_rope = false}, config);
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kWidth;
  ReadRopesByLayerType(json, kBase, json.Positive("rope_theta", kBase), config);
  ReadLayerTypes(
      json, ReadWindow(json, kWindow),
      [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; }, kPattern, config);
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.output_norms = true});
}

}  // namespace

const Family& Olmo3Family() {
  static const Family family = {"olmo3", "olmo3", ReadFolder, FolderTensors, "", nullptr, nullptr};
  return family;
}

}  // namespace midscope::olmo3

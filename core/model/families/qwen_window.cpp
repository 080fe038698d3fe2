// SPDX-License-Identifier: MIT
#include "core/model/families/qwen_window.h"

#include "core/model/families/common.h"
#include "core/model/model_shapes.h"

namespace midscope {

void ReadQwenWindow(const ConfigJson& json, ModelConfig* config, int64_t full_layers) {
  if (!json.Flag("use_sliding_window", false) || json.IsNull("sliding_window")) return;
  const int64_t window = json.Count("sliding_window", kMaxTokens, 4096);
  const int64_t first = json.CountOrZero("max_window_layers", kMaxTokens, full_layers);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t begin) { return layer >= begin; }, first, config);
}

}  // namespace midscope

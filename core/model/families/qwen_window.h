// SPDX-License-Identifier: MIT
// Reads the sliding window of qwen2 and qwen3.
#pragma once

#include "core/formats/config_json.h"
#include "core/model/model_config.h"

namespace midscope {

// If use_sliding_window is true, layers from max_window_layers on see sliding_window keys.
void ReadQwenWindow(const ConfigJson& json, ModelConfig* config, int64_t full_layers = 28);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The devices of a machine and what a model takes on each, for `info`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/compute/device_facts.h"
#include "core/model/model_config.h"

namespace midscope::cli {

// For each device its facts and, under `memory`, the bytes of weights and prompts of `lengths`
// tokens in each dtype with all layers on it, and whether its free memory holds both.
nlohmann::ordered_json DevicesJson(const std::vector<DeviceFacts>& devices,
                                   const ModelConfig& config, const std::vector<int64_t>& lengths);
// The same as a table, of the longest of `lengths`; where there is no GPU, with the reason.
std::string DevicesText(const std::vector<DeviceFacts>& devices, const ModelConfig& config,
                        const std::vector<int64_t>& lengths);

}  // namespace midscope::cli

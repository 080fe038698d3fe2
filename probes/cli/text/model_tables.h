// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/compute/device_facts.h"
#include "core/model/model_config.h"
#include "probes/cli/commands/model_facts.h"

namespace midscope::cli {

// Returns the facts of each device and, under `memory`, for each dtype, the bytes of the weights
// and of prompts of `lengths` tokens with all layers on that device, and whether both fit its free
// memory.
nlohmann::ordered_json DevicesJson(const std::vector<DeviceFacts>& devices,
                                   const ModelConfig& config, const std::vector<int64_t>& lengths);
// Returns a table of the devices, and of the memory that the model needs on each for prompts of the
// longest of `lengths`; if there is no GPU, states the reason.
std::string DevicesText(const std::vector<DeviceFacts>& devices, const ModelConfig& config,
                        const std::vector<int64_t>& lengths);

// The dtype that --dtype auto selects on this machine's CPU, and the measured deviations of other
// arithmetics from float32, for `info`. In the text, each deviation is on a separate line.
nlohmann::ordered_json DtypesJson(const ModelFacts& facts);
std::string DtypesText(const ModelFacts& facts);

}  // namespace midscope::cli

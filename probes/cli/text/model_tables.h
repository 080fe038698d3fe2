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

// The devices of a machine and the memory that a model takes on each, for `info`.

// For each device its facts and, under `memory`, the bytes of weights and prompts of `lengths`
// tokens in each dtype with all layers on it, and whether its free memory holds both.
nlohmann::ordered_json DevicesJson(const std::vector<DeviceFacts>& devices,
                                   const ModelConfig& config, const std::vector<int64_t>& lengths);
// As above, as a table for the longest of `lengths`; if there is no GPU, with the reason.
std::string DevicesText(const std::vector<DeviceFacts>& devices, const ModelConfig& config,
                        const std::vector<int64_t>& lengths);

// Known speed and exactness of a model in each dtype, as text, for `info`.

// Null if nothing has been timed.
nlohmann::ordered_json DtypesJson(const DtypeFacts& facts);

// "bfloat16: a layer takes ..."; how far others are from float32 on lines of their own.
std::string DtypesText(const DtypeFacts& facts);

}  // namespace midscope::cli

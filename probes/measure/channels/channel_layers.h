// SPDX-License-Identifier: MIT
// The layers in which a positional channel is scaled.
#pragma once

#include <cstdint>
#include <optional>

#include "core/intervention/intervention.h"

namespace midscope {

// Returns the default layers: from a quarter (rounded up) to five sixths of the model's layers,
// 8-25 of 30; close to the published ones.
LayerSet MiddleLayers(int64_t model_layers);

// Returns the paper's layers (Table 5) for a number of layers: 10-22 of 28, 10-25 of 32, 10-34 of
// 40, 10-42 of 48; nullopt if the paper has no model with that number.
std::optional<LayerSet> PublishedLayers(int64_t model_layers);

}  // namespace midscope

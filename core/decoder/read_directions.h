// SPDX-License-Identifier: MIT
// Computes the directions of logit_direction.h from a decoder's weights. Internal to core.
#pragma once

#include <cstdint>
#include <span>

#include "core/compute/weights.h"
#include "core/decoder/logit_direction.h"
#include "core/model/model_config.h"

namespace midscope {

// Returns the logit of `token` minus that of `against`. Throws Error if stored weights are not
// finite.
LogitDirection MakeLogitDirection(const ModelConfig& config, const Weights& weights, int32_t token,
                                  int32_t against);

// z [heads * head_dim] is only used for the statistics of an output norm. Reads the layer's output
// projection once.
HeadDirections MakeHeadDirections(const ModelConfig& config, const LayerWeights& weights,
                                  std::span<const float> z, std::span<const double> direction);

}  // namespace midscope

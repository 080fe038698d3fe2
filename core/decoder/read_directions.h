// SPDX-License-Identifier: MIT
// Reads directions of logit_direction.h from a decoder's weights. Internal to core.
#pragma once

#include <cstdint>
#include <span>

#include "core/compute/weights.h"
#include "core/decoder/logit_direction.h"
#include "core/model/model_config.h"

namespace midscope {

// `token` less `against`. Throws Error where stored weights are not finite.
LogitDirection MakeLogitDirection(const ModelConfig& config, const Weights& weights, int32_t token,
                                  int32_t against);

// z [heads * head_dim] decides the statistics of an output norm; elsewhere it is not read. Reads
// the layer's output projection once.
HeadDirections MakeHeadDirections(const ModelConfig& config, const LayerWeights& weights,
                                  std::span<const float> z, std::span<const double> direction);

}  // namespace midscope

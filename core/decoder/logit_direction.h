// SPDX-License-Identifier: MIT
// Directions in the residual stream that decompose logits (direct logit attribution: Elhage et al.,
// 'A mathematical framework for transformer circuits', 2021; TransformerLens'
// ActivationCache.logit_attrs and stack_head_results). Exact for norms with or without mean, output
// norms, parallel blocks and biases: the statistics of each norm are fixed at the run's values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

struct Weights;
struct LayerWeights;

// For a row x of the residual stream that leaves the last block, the difference of two tokens'
// logits before the final soft cap is s (x . direction) + constant; s = 1 / sqrt(mean(x^2) +
// epsilon), or for a LayerNorm 1 / sqrt(variance(x) + epsilon).
struct LogitDirection {
  // [hidden]: the final norm's weight times the difference of the tokens' output rows. For a
  // LayerNorm, its mean is subtracted, which removes the mean of x from the product.
  std::vector<double> direction;
  double constant = 0;  // from the biases of the norm and the output
  // [layer]: the factor by which a layer's update of the stream is scaled in the last block's
  // output (ModelConfig::layer_scale); embeddings have layer 0's factor.
  std::vector<double> of_layer;
};

// An attention layer's update of the residual stream along a direction is the sum over heads of z_h
// . of_z_h, plus `constant`; z [heads * head_dim] is the input of the output projection.
struct HeadDirections {
  std::vector<double> of_z;  // [heads * head_dim]
  double constant = 0;       // from the biases of the projection and an output norm
};

// The functions below are internal to core.

// Returns the logit of `token` minus that of `against`. Throws Error if stored weights are not
// finite.
LogitDirection MakeLogitDirection(const ModelConfig& config, const Weights& weights, int32_t token,
                                  int32_t against);

// Returns the layer's HeadDirections for a direction of the residual stream. z [heads * head_dim]
// is only used for the statistics of an output norm. Reads the output projection once.
HeadDirections MakeHeadDirections(const ModelConfig& config, const LayerWeights& weights,
                                  std::span<const float> z, std::span<const double> direction);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Directions in the residual stream that decompose logits (direct logit attribution: Elhage et al.,
// 'A mathematical framework for transformer circuits', 2021; TransformerLens'
// ActivationCache.logit_attrs and stack_head_results). Exact for norms with or without mean, output
// norms, parallel blocks and biases: the statistics of a norm are held at the run's values.
#pragma once

#include <vector>

namespace midscope {

// For a row x of the residual stream that leaves the last block, the difference of two tokens'
// logits before the final soft cap is s (x . direction) + constant; s = 1 / sqrt(mean(x^2) +
// epsilon), of a LayerNorm 1 / sqrt(variance(x) + epsilon).
struct LogitDirection {
  // [hidden]: the final norm's weight times the difference of the tokens' output rows; of a
  // LayerNorm without its mean, which takes the mean of x out of the product.
  std::vector<double> direction;
  double constant = 0;  // of the norm's bias and the output's
};

// For the z [heads * head_dim] that an attention's output projection reads, its update of the
// residual stream along a direction is the sum over heads of z_h . of_z_h, plus `constant`.
struct HeadDirections {
  std::vector<double> of_z;  // [heads * head_dim]
  double constant = 0;       // of the projection's bias and that of an output norm
};

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Rotary frequencies according to a model's configuration, including scaling: as in transformers'
// modeling_rope_utils.py, but in double instead of float32.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

struct RopeFrequencies {
  std::vector<double> inverse_frequency;  // [rope_dimensions / 2], radians per position
  double magnitude = 1.0;                 // factor of cos and sin
  bool operator==(const RopeFrequencies&) const = default;
};

// Returns the frequencies for a sequence of `tokens` tokens. Only dynamic scaling (beyond its
// original context) and longrope (short or long factors) depend on the length. If a scaling has no
// original_context, the trained context is used; if longrope has neither attention_factor nor
// factor (1), its factor is trained context / original context.
RopeFrequencies ModelFrequencies(const ModelConfig& config, int64_t tokens);

// Returns the frequencies of a `local` layer: rope_local_base, unscaled.
RopeFrequencies LocalFrequencies(const ModelConfig& config, int64_t layer);

// Sets the frequencies of pairs that do not turn to 0 (ModelConfig::turning_pairs).
void StopPairs(const ModelConfig& config, std::vector<double>* frequencies);

}  // namespace midscope

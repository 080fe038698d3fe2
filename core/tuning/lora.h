// SPDX-License-Identifier: MIT
// Low-rank adapters of a model's projections (LoRA, arXiv 2106.09685): W x becomes W x + scale B A
// x with A [rank, inputs] and B [outputs, rank]. Internal to core.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/model/model_config.h"
#include "core/tuning/trainable_weights.h"
#include "core/tuning/tuning_settings.h"

namespace midscope {

struct LoraAdapter {
  int64_t rank = 0;
  double alpha = 0;
  bool root_scale = false;  // rank-stabilised LoRA (arXiv 2312.03732)
  // "3.query.lora_a" [rank, inputs] and "3.query.lora_b" [outputs, rank], float32; rows of B are in
  // the decoder's order.
  NamedTensors tensors;
  double scale() const {
    const auto r = static_cast<double>(rank);
    return alpha / (root_scale ? std::sqrt(r) : r);
  }
};

// Endings of the tensors' names.
inline constexpr char kLoraA[] = ".lora_a";
inline constexpr char kLoraB[] = ".lora_b";

// Returns an adapter that changes nothing yet, as PEFT initialises it: A uniform in +- 1 /
// sqrt(inputs), the same numbers on every machine; B zero. Throws Error (usage) for a rank below 1
// and for a projection that no layer has.
LoraAdapter MakeLora(const LoraSettings& settings, const ModelConfig& config);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// What a model's description implies: that its numbers fit together, and which tensors of which
// shape its decoder needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxWidth = int64_t{1} << 20;   // heads, widths; 16 times the largest published
constexpr int64_t kMaxTokens = int64_t{1} << 30;  // vocabulary, context

// Throws Error naming `thing` where the description contradicts itself: heads that can't share
// key-value heads, an odd number of rotated dimensions, factors of another number than pairs.
void CheckModelConfig(const ModelConfig& config, const std::string& thing);

// A tensor under the decoder's name (model_source.h), outermost dimension first. Biases are not
// among them: a file says itself which it has.
struct NeededTensor {
  std::string name;  // "token_embedding", "3.query"
  int64_t layer = -1;
  std::vector<int64_t> shape;
};

std::vector<NeededTensor> NeededTensors(const ModelConfig& config);

// "[3, 4]"
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace midscope

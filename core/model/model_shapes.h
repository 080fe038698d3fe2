// SPDX-License-Identifier: MIT
// Checks of a model's description for consistent numbers, and the shapes of the tensors that its
// decoder needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxWidth = int64_t{1} << 20;   // heads, widths; 16 times the largest published
constexpr int64_t kMaxExperts = 4096;             // per layer
constexpr int64_t kMaxAllExperts = 1 << 16;       // in all layers; 3 times the largest published
constexpr int64_t kMaxTokens = int64_t{1} << 30;  // vocabulary, context

// Throws Error naming `thing` if the description contradicts itself: heads cannot share key-value
// heads evenly, the number of rotated dimensions is odd, or the number of rope factors differs from
// the number of rotary pairs.
void CheckModelConfig(const ModelConfig& config, const std::string& thing);

// A tensor that the decoder requires, with its shape, outermost dimension first. Biases are not
// included, because their existence depends on the file.
struct NeededTensor {
  std::string pattern;  // as in TensorPlace (families/family.h): "N.experts.E.up"
  std::vector<int64_t> shape;
  int64_t layer = -1;
  int64_t expert = -1;
  // Replaces N and E in the pattern `of` by this tensor's layer and expert: "3.experts.5.up".
  std::string NameOf(std::string_view of) const;
  std::string name() const { return NameOf(pattern); }
};

std::vector<NeededTensor> NeededTensors(const ModelConfig& config);

// Returns a shape as text: "[3, 4]".
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace midscope

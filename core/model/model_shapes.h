// SPDX-License-Identifier: MIT
// Consequences of a model's description: its numbers must be consistent, and its decoder needs
// tensors of given shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxWidth = int64_t{1} << 20;   // heads, widths; 16 times the largest published
constexpr int64_t kMaxExperts = 4096;             // of a layer
constexpr int64_t kMaxAllExperts = 1 << 16;       // of all layers; 3 times the largest published
constexpr int64_t kMaxTokens = int64_t{1} << 30;  // vocabulary, context

// Throws Error naming `thing` where the description contradicts itself: heads that can't share
// key-value heads, an odd number of rotated dimensions, factors of another number than pairs.
void CheckModelConfig(const ModelConfig& config, const std::string& thing);

// A tensor under the decoder's name (model_source.h), outermost dimension first. Biases are not
// included: whether they exist depends on the file.
struct NeededTensor {
  std::string pattern;  // as places have it (families/family.h): "N.experts.E.up"
  std::vector<int64_t> shape;
  int64_t layer = -1;
  int64_t expert = -1;
  // A pattern for the tensor's layer and expert: "3.experts.5.up"; its own is the decoder's name.
  std::string NameOf(std::string_view of) const;
  std::string name() const { return NameOf(pattern); }
};

std::vector<NeededTensor> NeededTensors(const ModelConfig& config);

// "[3, 4]"
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace midscope

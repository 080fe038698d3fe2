// SPDX-License-Identifier: MIT
// Settings of tuning, without LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

// Settings of TuningOptimizer.
struct OptimizerSettings {
  double rate = 1e-5;       // the highest
  int64_t steps = 1;        // of the whole run; the rate falls to 0 after the last
  int64_t warm_up = 0;      // number of steps before the highest rate; the first of them has rate 0
  double weight_decay = 0;  // of all parameters
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double largest_norm = 1;  // gradients of a larger norm are scaled down to it; 0: never
};

// Settings of MakeLora.
struct LoraSettings {
  int64_t rank = 8;
  double alpha = 16;
  // The decoder's names of matrices without the layer (model_source.h): in all layers that have
  // them.
  std::vector<std::string> projections = {"query", "value"};
  uint64_t seed = 1;  // of A
};

}  // namespace midscope

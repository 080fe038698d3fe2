// SPDX-License-Identifier: MIT
// AdamW with clipped gradients, warm-up and linear decay, as transformers' Trainer has them.
// Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace torch::optim {
class AdamW;
}

namespace midscope {

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

class TuningOptimizer {
 public:
  TuningOptimizer(std::vector<at::Tensor> parameters, const OptimizerSettings& settings);
  ~TuningOptimizer();

  // Returns the rate of step `step`, counted from 0.
  double RateOf(int64_t step) const;
  int64_t steps_done() const { return steps_done_; }

  // Changes the parameters by their gradients, which it then removes. Parameters without a gradient
  // are not changed. Returns the norm of all gradients before clipping. Throws Error (failure), and
  // changes nothing, if it is not finite.
  double Step();

 private:
  std::vector<at::Tensor> parameters_;
  OptimizerSettings settings_;
  std::unique_ptr<torch::optim::AdamW> adam_w_;
  int64_t steps_done_ = 0;
};

}  // namespace midscope

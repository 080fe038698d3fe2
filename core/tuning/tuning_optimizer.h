// SPDX-License-Identifier: MIT
// AdamW with clipped gradients, warm-up and linear decay, as transformers' Trainer has them.
// Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/process_group.h"
#include "core/tuning/tuning_settings.h"

namespace torch::optim {
class AdamW;
}

namespace midscope {

// The moments of a parameter; undefined if it has had no gradient yet.
struct ParameterMoments {
  at::Tensor mean;
  at::Tensor square;
  int64_t steps = 0;  // that changed the parameter
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

  // Returns the moments of each parameter, in the order of the constructor. Not copied.
  std::vector<ParameterMoments> Moments() const;
  // Continues as an optimizer of equal settings with these moments after `steps_done` steps.
  void Continue(int64_t steps_done, const std::vector<ParameterMoments>& moments);

 private:
  std::vector<at::Tensor> parameters_;
  OptimizerSettings settings_;
  std::unique_ptr<torch::optim::AdamW> adam_w_;
  int64_t steps_done_ = 0;
};

// Replaces the parameters' gradients (float32, on any device) by their sums over the processes,
// which are added in host memory. A parameter that has a gradient in any process has one in all
// afterwards. All processes must call it with parameters of the same shapes.
void SumGradients(const std::vector<at::Tensor>& parameters, ProcessGroup& processes);

}  // namespace midscope

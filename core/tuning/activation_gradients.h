// SPDX-License-Identifier: MIT
// Gradients with respect to activations: how much the answer's log likelihood, or the output as a
// whole, changes with each token's stream in each layer, and the linear estimate of what ablating
// a head does (attribution patching).
//
// clang-format off
//   const GradientPass pass(*OpenModel("embedded"), {}, {});
//   const ActivationGradients found = pass.Run({.ids = ids, .prompt_tokens = 271});
//   found.answer_norm[layer * found.tokens + token];
// clang-format on
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/job.h"
#include "core/compute/placement.h"
#include "core/intervention/intervention.h"
#include "core/model/model_source.h"
#include "kernels/types.h"

namespace midscope {

struct GradientSettings {
  Intervention setting;  // the position scheme; see TuningPlans
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  int64_t threads = 0;     // 0: LibTorch's number
  DeviceName device = {};  // of the weights and of the passes
};

struct GradientRequest {
  std::vector<int32_t> ids;   // the prompt, and its answer if it has one
  int64_t prompt_tokens = 0;  // >= 1; the rest of `ids` is the answer
  // Number of random cotangents v (signs) from which output_norm is estimated. 0: it is not.
  int64_t cotangents = 0;
  uint64_t seed = 1;  // of the cotangents
  // The prompt from whose last row last_row_patch takes heads' outputs; empty: none. It runs
  // without the setting, as the sources of `patch` do.
  std::vector<int32_t> source_ids = {};
  // Called after the forward pass, after the answer's backward pass (or its omission), and after
  // each cotangent's; may be empty.
  std::function<void()> on_pass = {};
};

// [layer, head]: the change of answer_nll, in nats, that the gradient predicts to first order if
// the head's output (hook_z) is replaced by zero, or in each row by the mean of its outputs up to
// the row. 0 in layers without attention.
struct HeadEffects {
  std::vector<double> zero;
  std::vector<double> mean;
};

struct ActivationGradients {
  int64_t layers = 0;
  int64_t tokens = 0;  // of the prompt
  int64_t heads = 0;
  double answer_nll = 0;  // in nats, summed over the answer's tokens; NaN without an answer
  // [layer, token]: the norm of the gradient of the answer's log likelihood with respect to the
  // token's stream before the layer (hook_resid_pre; layer 0: the token's embedding), in nats per
  // unit of the stream. Empty without an answer.
  std::vector<double> answer_norm;
  // [layer, token]: the Frobenius norm of the Jacobian J of the logits after the prompt's last
  // token with respect to the same, estimated as the root of the mean of |v^T J|^2, whose
  // expectation is |J|^2. Empty without cotangents.
  std::vector<double> output_norm;
  // Estimates of `ablate` with rows=answer, and with rows=all; empty without an answer.
  HeadEffects answer_rows;
  HeadEffects all_rows;
  // [layer, head]: likewise if the head's output in the prompt's last row becomes that of the
  // source prompt (`patch` with what=z, span=last). Empty without an answer or a source.
  std::vector<double> last_row_patch;
};

class GradientPass {
 public:
  // Loads the weights; `source` need not outlive the pass, `context.cancel` must. Throws Error in
  // the cases of CheckDevices, TuningPlans and DifferentiableModel, and Cancelled.
  GradientPass(const ModelSource& source, const GradientSettings& settings,
               const JobContext& context);
  ~GradientPass();
  GradientPass(const GradientPass&) = delete;
  GradientPass& operator=(const GradientPass&) = delete;

  int64_t threads() const;
  // One forward pass, and one backward pass for the answer and for each cotangent. Throws Error in
  // the cases of TuningPlans, and Cancelled, within about the time of a layer.
  ActivationGradients Run(const GradientRequest& request) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace midscope

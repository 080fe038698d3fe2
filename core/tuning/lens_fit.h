// SPDX-License-Identifier: MIT
// Fits a Jacobian lens (core/formats/jacobian_lens.h) as the reference implementation does (Gurnee
// et al. 2026; jlens/fitting.py of anthropics/jacobian-lens, read in its forks
// MechInterpreter/jacobian-lens-gemma at 049cbc30 and ndalton12/jacobian-lens at edf40044, and
// _jacobian_for_prompt of TransformerLens 4.3.0). For a prompt of tokens 0 to T - 1 and the set V
// of its positions 16 to T - 2,
//
//   J_l = 1 / |V|  sum over s in V, t in V with t >= s  of  d h_final[t] / d h_l[s]
//
// where h_l is the residual stream after layer l (hook_resid_post) and h_final that after the last
// layer, before the final norm; the lens is the mean over prompts. Layers are 0 to layers - 2; that
// of the last layer is the identity. Row i of all matrices is one backward pass, whose cotangent is
// 1 at element i of all positions in V: hidden backward passes per prompt, from one forward pass.
//
// Departures: the passes of a prompt are one after another, where the reference copies the prompt
// and so computes some rows (dim_batch, 8) in one pass of equal cost; the mean over prompts is a
// running one; float32 is the default, where the reference takes the model's dtype.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/base/job.h"
#include "core/formats/jacobian_lens.h"
#include "core/model/model_source.h"
#include "kernels/types.h"

namespace midscope {

// Early positions are attention sinks with streams unlike those of others.
inline constexpr int64_t kLensSkippedPositions = 16;
// With fewer tokens, no position is left.
inline constexpr int64_t kLeastLensTokens = kLensSkippedPositions + 2;

struct LensFitSettings {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  int64_t threads = 0;  // 0: LibTorch's number
};

class LensFit {
 public:
  // Loads the weights; `source` need not outlive the object, `context.cancel` must. Throws Error in
  // the cases of DifferentiableModel and for a model of one layer, and Cancelled.
  LensFit(const ModelSource& source, const LensFitSettings& settings, const JobContext& context);
  ~LensFit();
  LensFit(const LensFit&) = delete;
  LensFit& operator=(const LensFit&) = delete;

  int64_t threads() const;
  int64_t hidden() const;  // the number of backward passes per prompt

  // Adds one prompt, of at least kLeastLensTokens tokens, to the mean `lens`, which is empty or
  // from earlier calls. `report` is called with the number of rows done, after each. Throws
  // Cancelled within about the time of a layer; `lens` is then unchanged.
  void Add(std::span<const int32_t> ids, const std::function<void(int64_t rows)>& report,
           JacobianLens* lens) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace midscope

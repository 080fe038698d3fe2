// SPDX-License-Identifier: MIT
#include "core/decoder/head_ablation.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/check.h"

namespace midscope {
namespace {

// Row i: the mean of the head's outputs in rows 0 .. i. `outputs` are those of the active rows.
at::Tensor RunningMean(SequencePass& sequence, int64_t layer, int64_t head,
                       const at::Tensor& outputs) {
  const int64_t first = sequence.active_first;
  const int64_t count = outputs.size(0);
  const at::Tensor now = outputs.to(at::kDouble).cumsum(0);
  // Layers that are not kept run all rows whenever they run.
  if (layer >= sequence.trace->first_layer()) {
    // A missing tensor: no earlier run computed the means of this head.
    at::Tensor& sums = sequence.trace->storage().head_sums[{layer, head}];
    if (!sums.defined()) {
      MIDSCOPE_CHECK_EQ(first, 0);
      sums = at::empty({sequence.trace->capacity(), outputs.size(1)}, now.options());
    }
    if (first > 0) now.add_(sums.select(0, first - 1));
    sums.narrow(0, first, count).copy_(now);
  }
  return now / at::arange(first + 1, first + count + 1, now.options()).unsqueeze(1);
}

}  // namespace

void AblateHeads(SequencePass& sequence, int64_t layer, int64_t head_dim, const at::Tensor& z) {
  const AttentionPlan& plan = sequence.plans[static_cast<size_t>(layer)];
  const int64_t first = sequence.active_first;
  for (const AblatedHead& ablated : plan.edits.ablated) {
    const at::Tensor outputs = z.narrow(0, sequence.packed_begin, sequence.active_rows())
                                   .narrow(1, ablated.head * head_dim, head_dim);
    at::Tensor means;
    if (ablated.with == AblateWith::kMean)
      means = RunningMean(sequence, layer, ablated.head, outputs);
    const RowRange rows{std::max(ablated.rows.first, first),
                        std::min(ablated.rows.last, sequence.rows)};
    if (rows.empty()) continue;
    const at::Tensor replaced = outputs.narrow(0, rows.first - first, rows.last - rows.first);
    if (means.defined()) {
      replaced.copy_(means.narrow(0, rows.first - first, rows.last - rows.first));
    } else {
      replaced.zero_();
    }
  }
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/decoder/residual_edits.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/check.h"

namespace midscope {

namespace {

// Returns the part of `rows` in `stream` [active rows, hidden], which begins at active_first.
at::Tensor RowsOfStream(const SequencePass& sequence, const at::Tensor& stream, RowRange rows) {
  const int64_t first = std::max(rows.first, sequence.active_first);
  const int64_t last = std::max(first, std::min(rows.last, sequence.rows));
  if (first >= sequence.rows) return stream.narrow(0, 0, 0);
  return stream.narrow(0, first - sequence.active_first, last - first);
}

double PromptMean(SequencePass& sequence, int64_t layer, int64_t channel,
                  const at::Tensor& stream) {
  auto& kept = sequence.trace->storage().channel_means;
  if (sequence.active_first > 0) {
    // The prompt's rows have not changed since the run that stored this mean (plan_changes.h).
    const auto mean = kept.find({layer, channel});
    MIDSCOPE_CHECK(mean != kept.end(), "no run took the mean of this channel");
    return mean->second;
  }
  const at::Tensor column = stream.narrow(0, 0, sequence.prompt_tokens).select(1, channel);
  const double mean = column.to(at::kDouble).mean().item<double>();
  // Layers that are not stored run all rows whenever they run.
  if (layer >= sequence.trace->first_layer()) kept[{layer, channel}] = mean;
  return mean;
}

}  // namespace

void EditResidual(SequencePass& sequence, int64_t layer, const at::Tensor& residual) {
  const ResidualPlan& plan = sequence.plans[static_cast<size_t>(layer)].residual;
  if (plan.empty() || sequence.active_rows() == 0) return;
  const at::Tensor stream = residual.narrow(0, sequence.packed_begin, sequence.active_rows());
  for (const AddedVector& added : plan.added) {
    const at::Tensor rows = RowsOfStream(sequence, stream, added.rows);
    if (rows.size(0) == 0) continue;
    const at::Tensor values = at::tensor(at::ArrayRef<float>(added.values)).to(rows.device());
    rows.add_(values);  // in float32, rounded once to the run's dtype
  }
  std::vector<double> values;
  for (const SetChannel& set : plan.set)
    values.push_back(set.value ? *set.value : PromptMean(sequence, layer, set.channel, stream));
  for (size_t i = 0; i < values.size(); ++i)
    RowsOfStream(sequence, stream, plan.set[i].rows)
        .select(1, plan.set[i].channel)
        .fill_(values[i]);
}

namespace {

// Returns, for each active row i, the mean of the head's outputs in rows 0 .. i. `outputs`: the
// head's outputs in the active rows.
at::Tensor RunningMean(SequencePass& sequence, int64_t layer, int64_t head,
                       const at::Tensor& outputs) {
  const int64_t first = sequence.active_first;
  const int64_t count = outputs.size(0);
  const at::Tensor now = outputs.to(at::kDouble).cumsum(0);
  // Layers that are not stored run all rows whenever they run.
  if (layer >= sequence.trace->first_layer()) {
    // If there is no tensor, no earlier run computed the means of this head.
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

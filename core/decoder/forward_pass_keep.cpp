// SPDX-License-Identifier: MIT
// What a pass stores in the traces of its sequences.
#include <ATen/ATen.h>

#include <algorithm>

#include "core/decoder/forward_pass.h"

namespace midscope {
namespace {

bool Keeps(const SequencePass& sequence, int64_t layer) {
  return sequence.keeps() && layer >= sequence.trace->first_layer();
}

bool KeepsResidual(const SequencePass& sequence, int64_t layer) {
  return Keeps(sequence, layer) && sequence.trace->has_residual();
}

bool KeepsNormRows(const SequencePass& sequence, std::vector<at::Tensor> Trace::Storage::*where,
                   int64_t layer) {
  return Keeps(sequence, layer) && !(sequence.trace->storage().*where).empty();
}

}  // namespace

void ForwardPass::KeepResidual(std::vector<SequencePass>& sequences, int64_t layer) {
  for (SequencePass& sequence : sequences) {
    if (!KeepsResidual(sequence, layer)) continue;
    // Above dropped layers, whose rows are all computed again, the trace has the unchanged ones.
    const int64_t first =
        layer < config_.layers
            ? std::max(sequence.active_first, sequence.first_row[static_cast<size_t>(layer)])
            : sequence.active_first;
    const int64_t count = sequence.rows - first;
    if (count == 0) continue;
    sequence.trace->storage()
        .residual[static_cast<size_t>(layer)]
        .narrow(0, first, count)
        .copy_(residual_.narrow(0, sequence.packed_begin + first - sequence.active_first, count));
  }
}

at::Tensor ForwardPass::NormRows(const std::vector<SequencePass>& sequences,
                                 std::vector<at::Tensor> Trace::Storage::*where,
                                 int64_t layer) const {
  const auto keeps = [&](const SequencePass& sequence) {
    return KeepsNormRows(sequence, where, layer);
  };
  if (std::none_of(sequences.begin(), sequences.end(), keeps)) return {};
  if (sequences.size() == 1) {
    const SequencePass& sequence = sequences.front();
    return (sequence.trace->storage().*where)[static_cast<size_t>(layer)].narrow(
        0, sequence.active_first, sequence.active_rows());
  }
  return at::empty({packed_rows_}, at::TensorOptions().dtype(at::kFloat).device(ops_->device()));
}

void ForwardPass::KeepNormRows(std::vector<SequencePass>& sequences, const at::Tensor& values,
                               std::vector<at::Tensor> Trace::Storage::*where, int64_t layer) {
  // Those of a single sequence were written to their place.
  if (!values.defined() || sequences.size() == 1) return;
  for (SequencePass& sequence : sequences) {
    if (!KeepsNormRows(sequence, where, layer)) continue;
    (sequence.trace->storage().*where)[static_cast<size_t>(layer)]
        .narrow(0, sequence.active_first, sequence.active_rows())
        .copy_(values.narrow(0, sequence.packed_begin, sequence.active_rows()));
  }
}

NormKeeps ForwardPass::KeepsOfNorm(const std::vector<SequencePass>& sequences,
                                   int64_t layer) const {
  NormKeeps keeps{NormRows(sequences, &Trace::Storage::norm_mean, layer),
                  NormRows(sequences, &Trace::Storage::norm_scale, layer),
                  {}};
  const SequencePass& first = sequences.front();
  // Of rows that are all stored, next to each other.
  if (sequences.size() == 1 && KeepsResidual(first, layer) && first.active_rows() > 0 &&
      first.first_row[static_cast<size_t>(layer)] <= first.active_first) {
    keeps.input = first.trace->storage().residual[static_cast<size_t>(layer)].narrow(
        0, first.active_first, first.active_rows());
  }
  return keeps;
}

}  // namespace midscope

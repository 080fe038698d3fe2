// SPDX-License-Identifier: MIT
#include "core/decoder/mixer_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/decoder/show_rows.h"
#include "core/decoder/trace_storage.h"
#include "kernels/check.h"
#include "kernels/delta_rule.h"

namespace midscope {
namespace {

// Added to the squared length when queries and keys are normalised, as in transformers.
constexpr double kLengthEpsilon = 1e-6;

// Returns the last row <= `row` before which the trace has a stored state.
int64_t StateRow(const Trace& trace, int64_t layer, int64_t row) {
  const MixerStates& states = trace.storage().mixer_states.at(layer);
  return states.latest_row == row ? row : row / kStateRows * kStateRows;
}

// Rows as inputs of a recurrence (kernels/delta_rule.h), contiguous float32.
struct RecurrentRows {
  kernels::DeltaShape shape;
  at::Tensor q, k;         // [row, key head, key dim]
  at::Tensor v;            // [row, value head, value dim]
  at::Tensor decay, rate;  // [row, value head]; rate undefined: a state space
  // Only for a state space. steps [row, value head]: a row's value is its input times its step.
  // skip [value head]: the input times `skip` is added to the output.
  at::Tensor steps, skip;
};

// A layer's state, which rows advance: every head's matrix and the convolution's last inputs.
class RunningState {
 public:
  // values: a state of MixerStates, which is advanced in place. shown: receives the rows for hooks;
  // null: they are not needed.
  RunningState(const MixerSizes& sizes, at::Tensor values, std::vector<RecurrentRows>* shown)
      : shown_(shown),
        values_(std::move(values)),
        matrices_(values_.narrow(0, 0, sizes.matrices)),
        inputs_(values_.narrow(0, sizes.matrices, values_.numel() - sizes.matrices)
                    .view({sizes.taps - 1, sizes.channels})) {}

  const at::Tensor& values() const { return values_; }
  const at::Tensor& inputs() const { return inputs_; }  // [taps - 1, channels]

  // Returns the output of the rows, [row, value head, value dim], and advances the matrices.
  at::Tensor Advance(const MixerStep& step, const RecurrentRows& rows) const {
    at::Tensor out = at::empty(rows.v.sizes(), at::kFloat);
    kernels::GatedDeltaRule(
        rows.shape, rows.q.const_data_ptr<float>(), rows.k.const_data_ptr<float>(),
        rows.v.const_data_ptr<float>(), rows.decay.const_data_ptr<float>(),
        rows.rate.defined() ? rows.rate.const_data_ptr<float>() : nullptr, rows.v.size(0),
        matrices_.data_ptr<float>(), out.data_ptr<float>(), step.executor, step.context.cancel);
    step.context.ThrowIfCancelled();
    if (shown_) shown_->push_back(rows);
    return out;
  }

 private:
  std::vector<RecurrentRows>* shown_;
  at::Tensor values_;
  at::Tensor matrices_;
  at::Tensor inputs_;
};

// Splits projections [row, outputs] into consecutive column ranges.
class Columns {
 public:
  explicit Columns(const at::Tensor& projected) : projected_(projected) {}

  at::Tensor Next(int64_t width) {
    column_ += width;
    return projected_.narrow(1, column_ - width, width);
  }

 private:
  const at::Tensor& projected_;
  int64_t column_ = 0;
};

// Returns x [row, channels] after the causal convolution, and advances state.inputs().
at::Tensor Convolved(const at::Tensor& x, const MixerWeights& weights, const RunningState& state) {
  const at::Tensor& taps = weights.taps;
  const at::Tensor all = at::cat({state.inputs(), x});
  at::Tensor sum = all.narrow(0, 0, x.size(0)) * taps[0];
  for (int64_t tap = 1; tap < taps.size(0); ++tap)
    sum.addcmul_(all.narrow(0, tap, x.size(0)), taps[tap]);
  state.inputs().copy_(all.narrow(0, x.size(0), taps.size(0) - 1));
  return weights.taps_bias.defined() ? sum.add_(weights.taps_bias) : sum;
}

// Returns x [row, head, dim] with each head normalised to length 1.
at::Tensor UnitHeads(const at::Tensor& x) {
  return x * at::rsqrt(x.square().sum(-1, /*keepdim=*/true) + kLengthEpsilon);
}

// Returns the decay factors of steps [row, head], in the same shape.
at::Tensor Decays(const at::Tensor& steps, const MixerWeights& weights) {
  return at::exp(steps * weights.decay_scale);
}

// The functions below, one per kind of mixer, return z [row, outputs] for rows with the input
// projections `projected` (float32), and advance the state.

at::Tensor MixByDeltaRule(const MixerStep& step, const at::Tensor& projected,
                          const RunningState& state) {
  const DeltaRule& rule = step.config.delta_rule;
  const MixerWeights& weights = step.weights;
  const int64_t rows = projected.size(0);
  Columns columns(projected);
  const at::Tensor mixed = at::silu(Convolved(columns.Next(rule.mixed_width()), weights, state));
  const at::Tensor gate = columns.Next(rule.value_width());
  const at::Tensor rate = at::sigmoid(columns.Next(rule.value_heads));
  const at::Tensor decay =
      Decays(at::softplus(columns.Next(rule.value_heads) + weights.decay_bias), weights);
  const auto heads = [&](int64_t first) {
    return UnitHeads(
        mixed.narrow(1, first, rule.key_width()).reshape({rows, rule.key_heads, rule.key_dim}));
  };
  const at::Tensor q = heads(0) / std::sqrt(static_cast<double>(rule.key_dim));
  const at::Tensor k = heads(rule.key_width());
  const at::Tensor v = mixed.narrow(1, 2 * rule.key_width(), rule.value_width())
                           .reshape({rows, rule.value_heads, rule.value_dim});
  const kernels::DeltaShape shape{rule.key_heads, rule.value_heads, rule.key_dim, rule.value_dim,
                                  rule.tiled};
  at::Tensor out = state.Advance(step, {shape, q, k, v.contiguous(), decay, rate, {}, {}});
  out *= at::rsqrt(out.square().mean(-1, /*keepdim=*/true) + step.config.norm_epsilon);
  out *= weights.norm;
  return out.view({rows, rule.value_width()}).mul_(at::silu(gate));
}

at::Tensor MixByStateSpace(const MixerStep& step, const at::Tensor& projected,
                           const RunningState& state) {
  const StateSpace& space = step.config.state_space;
  const MixerWeights& weights = step.weights;
  const int64_t rows = projected.size(0);
  const at::Tensor scaled =
      weights.input_scale.defined() ? projected * weights.input_scale : projected;
  Columns columns(scaled);
  const at::Tensor gate = columns.Next(space.width());
  const at::Tensor mixed = at::silu(Convolved(columns.Next(space.mixed_width()), weights, state));
  const at::Tensor steps = at::softplus(columns.Next(space.heads) + weights.decay_bias);
  const at::Tensor decay = Decays(steps, weights);
  const at::Tensor x =
      mixed.narrow(1, 0, space.width()).reshape({rows, space.heads, space.head_dim});
  const at::Tensor b = mixed.narrow(1, space.width(), space.group_width()).contiguous();
  const at::Tensor c =
      mixed.narrow(1, space.width() + space.group_width(), space.group_width()).contiguous();
  const at::Tensor v = x * steps.unsqueeze(-1);
  const kernels::DeltaShape shape{space.groups, space.heads, space.state_dim, space.head_dim};
  at::Tensor out = state.Advance(step, {shape, c, b, v, decay, {}, steps, weights.skip});
  out.addcmul_(x, weights.skip.unsqueeze(-1));
  out = out.view({rows, space.width()});
  if (space.norm != GatedNorm::kBeforeGate) out.mul_(at::silu(gate));
  if (space.norm == GatedNorm::kNone) return out;
  const at::Tensor parts = out.view({rows, space.groups, -1});
  parts.mul_(at::rsqrt(parts.square().mean(-1, /*keepdim=*/true) + step.config.norm_epsilon));
  out.mul_(weights.norm);
  return space.norm == GatedNorm::kBeforeGate ? out.mul_(at::silu(gate)) : out;
}

at::Tensor MixByConvolution(const MixerStep& step, const at::Tensor& projected,
                            const RunningState& state) {
  Columns columns(projected);
  const at::Tensor b = columns.Next(step.config.hidden);
  const at::Tensor c = columns.Next(step.config.hidden);
  return Convolved(b * columns.Next(step.config.hidden), step.weights, state).mul_(c);
}

// Passes hook_effective_pattern to hooks: for each requested row the weights of all rows up to it.
// parts: the rows from row 0 on.
void ShowEffectivePattern(const MixerStep& step, const SequencePass& sequence, int64_t layer,
                          const std::vector<RecurrentRows>& parts) {
  const auto join = [&](const at::Tensor RecurrentRows::*member) {
    std::vector<at::Tensor> tensors;
    tensors.reserve(parts.size());
    for (const RecurrentRows& part : parts) tensors.push_back(part.*member);
    return tensors.front().defined() ? at::cat(tensors).contiguous() : at::Tensor();
  };
  const kernels::DeltaShape& shape = parts.front().shape;
  const at::Tensor q = join(&RecurrentRows::q);
  const at::Tensor k = join(&RecurrentRows::k);
  MIDSCOPE_CHECK_EQ(k.size(0), sequence.rows);  // PrepareSequence lets such a pass start at row 0
  const at::Tensor decay = join(&RecurrentRows::decay);
  const at::Tensor rate = join(&RecurrentRows::rate);
  const at::Tensor steps = join(&RecurrentRows::steps);
  const HookPoint point{HookSite::kEffectivePattern, layer};
  const RowRange wanted = sequence.hooks->Wanted(point.site, layer);
  for (int64_t row = wanted.first; row < std::min(wanted.last, sequence.rows); ++row) {
    const at::Tensor weights = at::empty({1, shape.value_heads, row + 1}, at::kFloat);
    kernels::DeltaRuleWeights(shape, q[row].const_data_ptr<float>(), k.const_data_ptr<float>(),
                              decay.const_data_ptr<float>(),
                              rate.defined() ? rate.const_data_ptr<float>() : nullptr, row + 1,
                              weights.data_ptr<float>(), step.executor, step.context.cancel);
    step.context.ThrowIfCancelled();
    if (steps.defined()) {
      weights.mul_(steps.narrow(0, 0, row + 1).t());
      weights.select(2, row).add_(parts.front().skip);
    }
    ShowHostWeights(sequence, point, row, weights);
  }
}

at::Tensor Mixed(const MixerStep& step, const at::Tensor& projected, const RunningState& state) {
  if (step.config.delta_rule.used()) return MixByDeltaRule(step, projected, state);
  if (step.config.state_space.used()) return MixByStateSpace(step, projected, state);
  return MixByConvolution(step, projected, state);
}

// Returns the state before `row`, which the caller advances. If the pass keeps its rows and
// continues after the trace's last row, it is the trace's own tensor, else a copy.
at::Tensor ValuesBefore(int64_t size, const MixerStates* stored, int64_t row, bool keeps) {
  if (row == 0) return at::zeros({size}, at::kFloat);
  MIDSCOPE_CHECK(stored != nullptr, "no state before the first row");
  if (stored->latest_row == row) return keeps ? stored->latest : stored->latest.clone();
  MIDSCOPE_CHECK_EQ(row % kStateRows, 0);
  return stored->kept[row / kStateRows - 1].clone();
}

}  // namespace

bool ShowsEffectivePattern(const SequencePass& sequence, int64_t layer) {
  return sequence.hooks->Wanted(HookSite::kEffectivePattern, layer).last >
         sequence.changed_row[static_cast<size_t>(layer)];
}

void StartAtStates(const ModelConfig& config, SequencePass& sequence) {
  const Trace& trace = *sequence.trace;
  int64_t start = sequence.rows;
  for (int64_t layer = trace.first_layer(); layer < config.layers; ++layer) {
    const int64_t first = sequence.first_row[static_cast<size_t>(layer)];
    if (!config.HasMixer(layer) || first >= sequence.rows) continue;
    start = std::min(start, StateRow(trace, layer, first));
  }
  for (auto layer = static_cast<size_t>(trace.first_layer()); layer < sequence.first_row.size();
       ++layer) {
    int64_t& first = sequence.first_row[layer];
    if (first < sequence.rows) first = std::min(first, start);
  }
}

void MixRows(const MixerStep& step, const SequencePass& sequence, int64_t layer,
             const at::Tensor& projected, const at::Tensor& z) {
  auto& all_states = sequence.trace->storage().mixer_states;
  const auto found = all_states.find(layer);
  MixerStates* stored = found == all_states.end() ? nullptr : &found->second;
  const bool keeps = stored != nullptr && sequence.keeps();
  int64_t row = sequence.active_first;
  const MixerSizes sizes = step.config.Mixer();
  const bool shows = ShowsEffectivePattern(sequence, layer);
  std::vector<RecurrentRows> shown;
  const RunningState state(sizes, ValuesBefore(sizes.state(), stored, row, keeps),
                           shows ? &shown : nullptr);
  if (keeps) stored->latest_row = 0;
  while (row < sequence.rows) {
    const int64_t end = std::min(sequence.rows, (row / kStateRows + 1) * kStateRows);
    const int64_t packed = sequence.packed_begin + row - sequence.active_first;
    const auto rows = [&](const at::Tensor& of) { return of.narrow(0, packed, end - row); };
    rows(z).copy_(Mixed(step, rows(projected).to(at::kCPU, at::kFloat), state));
    if (keeps && end % kStateRows == 0) stored->kept[end / kStateRows - 1].copy_(state.values());
    row = end;
  }
  if (!shown.empty()) ShowEffectivePattern(step, sequence, layer, shown);
  if (!keeps) return;
  stored->latest = state.values();
  stored->latest_row = row;
}

}  // namespace midscope

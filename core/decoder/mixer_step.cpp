// SPDX-License-Identifier: MIT
#include "core/decoder/mixer_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/decoder/trace_storage.h"
#include "kernels/check.h"
#include "kernels/delta_rule.h"

namespace midscope {
namespace {

// Added to the squared length by which queries and keys are divided, as in transformers.
constexpr double kLengthEpsilon = 1e-6;

// Returns the last row up to `row` whose state before it is known.
int64_t StateRow(const Trace& trace, int64_t layer, int64_t row) {
  const MixerStates& states = trace.storage().mixer_states.at(layer);
  return states.latest_row == row ? row : row / kStateRows * kStateRows;
}

// A state that is being advanced: every head's matrix, and the last inputs of the convolution.
class RunningState {
 public:
  // values: those of MixerStates, which are advanced in place.
  RunningState(const MixerSizes& sizes, at::Tensor values)
      : values_(std::move(values)),
        matrices_(values_.narrow(0, 0, sizes.matrices)),
        inputs_(values_.narrow(0, sizes.matrices, values_.numel() - sizes.matrices)
                    .view({sizes.taps - 1, sizes.channels})) {}

  const at::Tensor& values() const { return values_; }
  float* matrices() const { return matrices_.data_ptr<float>(); }
  const at::Tensor& inputs() const { return inputs_; }  // [taps - 1, channels]

 private:
  at::Tensor values_;
  at::Tensor matrices_;
  at::Tensor inputs_;
};

// The columns of projections [row, outputs], part by part.
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

// Returns x [row, channels] after the convolution. state.inputs() is advanced.
at::Tensor Convolved(const at::Tensor& x, const MixerWeights& weights, const RunningState& state) {
  const at::Tensor& taps = weights.taps;
  const at::Tensor all = at::cat({state.inputs(), x});
  at::Tensor sum = all.narrow(0, 0, x.size(0)) * taps[0];
  for (int64_t tap = 1; tap < taps.size(0); ++tap)
    sum.addcmul_(all.narrow(0, tap, x.size(0)), taps[tap]);
  state.inputs().copy_(all.narrow(0, x.size(0), taps.size(0) - 1));
  return weights.taps_bias.defined() ? sum.add_(weights.taps_bias) : sum;
}

// Heads of x [row, head, dim] divided by their length.
at::Tensor UnitHeads(const at::Tensor& x) {
  return x * at::rsqrt(x.square().sum(-1, /*keepdim=*/true) + kLengthEpsilon);
}

// Decays of steps [row, head].
at::Tensor Decays(const at::Tensor& steps, const MixerWeights& weights) {
  return at::exp(steps * weights.decay_scale);
}

// These return z [row, outputs] of rows with these projections [row, outputs of the matrix]
// float32, and advance the state.

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
  const at::Tensor v = mixed.narrow(1, 2 * rule.key_width(), rule.value_width()).contiguous();
  at::Tensor out = at::empty({rows, rule.value_heads, rule.value_dim}, at::kFloat);
  kernels::GatedDeltaRule(
      {rule.key_heads, rule.value_heads, rule.key_dim, rule.value_dim, rule.tiled},
      q.const_data_ptr<float>(), k.const_data_ptr<float>(), v.const_data_ptr<float>(),
      decay.const_data_ptr<float>(), rate.const_data_ptr<float>(), rows, state.matrices(),
      out.data_ptr<float>(), step.executor, step.context.cancel);
  step.context.ThrowIfCancelled();
  out *= at::rsqrt(out.square().mean(-1, /*keepdim=*/true) + step.config.norm_epsilon);
  out *= weights.norm;
  return out.view({rows, rule.value_width()}).mul_(at::silu(gate));
}

at::Tensor MixByStateSpace(const MixerStep& step, const at::Tensor& projected,
                           const RunningState& state) {
  const StateSpace& space = step.config.state_space;
  const MixerWeights& weights = step.weights;
  const int64_t rows = projected.size(0);
  Columns columns(projected);
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
  at::Tensor out = at::empty({rows, space.heads, space.head_dim}, at::kFloat);
  kernels::GatedDeltaRule(
      {space.groups, space.heads, space.state_dim, space.head_dim}, c.const_data_ptr<float>(),
      b.const_data_ptr<float>(), v.const_data_ptr<float>(), decay.const_data_ptr<float>(), nullptr,
      rows, state.matrices(), out.data_ptr<float>(), step.executor, step.context.cancel);
  step.context.ThrowIfCancelled();
  out.addcmul_(x, weights.skip.unsqueeze(-1));
  out = out.view({rows, space.width()}).mul_(at::silu(gate)).view({rows, space.groups, -1});
  out *= at::rsqrt(out.square().mean(-1, /*keepdim=*/true) + step.config.norm_epsilon);
  return out.view({rows, space.width()}).mul_(weights.norm);
}

at::Tensor MixByConvolution(const MixerStep& step, const at::Tensor& projected,
                            const RunningState& state) {
  Columns columns(projected);
  const at::Tensor b = columns.Next(step.config.hidden);
  const at::Tensor c = columns.Next(step.config.hidden);
  return Convolved(b * columns.Next(step.config.hidden), step.weights, state).mul_(c);
}

at::Tensor Mixed(const MixerStep& step, const at::Tensor& projected, const RunningState& state) {
  if (step.config.delta_rule.used()) return MixByDeltaRule(step, projected, state);
  if (step.config.state_space.used()) return MixByStateSpace(step, projected, state);
  return MixByConvolution(step, projected, state);
}

// Returns the values of the state before a row, to be advanced: in place those of the trace's last
// row, if the pass keeps its rows.
at::Tensor ValuesBefore(int64_t size, const MixerStates* stored, int64_t row, bool keeps) {
  if (row == 0) return at::zeros({size}, at::kFloat);
  MIDSCOPE_CHECK(stored != nullptr, "no state before the first row");
  if (stored->latest_row == row) return keeps ? stored->latest : stored->latest.clone();
  MIDSCOPE_CHECK_EQ(row % kStateRows, 0);
  return stored->kept[row / kStateRows - 1].clone();
}

}  // namespace

void StartAtStates(const ModelConfig& config, SequencePass& sequence) {
  const Trace& trace = *sequence.trace;
  int64_t start = sequence.rows;
  for (int64_t layer = trace.first_layer(); layer < config.layers; ++layer) {
    const int64_t first = sequence.first_row[static_cast<size_t>(layer)];
    if (config.HasAttention(layer) || first >= sequence.rows) continue;
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
  const RunningState state(sizes, ValuesBefore(sizes.state(), stored, row, keeps));
  if (keeps) stored->latest_row = 0;
  while (row < sequence.rows) {
    const int64_t end = std::min(sequence.rows, (row / kStateRows + 1) * kStateRows);
    const int64_t packed = sequence.packed_begin + row - sequence.active_first;
    const auto rows = [&](const at::Tensor& of) { return of.narrow(0, packed, end - row); };
    rows(z).copy_(Mixed(step, rows(projected).to(at::kCPU, at::kFloat), state));
    if (keeps && end % kStateRows == 0) stored->kept[end / kStateRows - 1].copy_(state.values());
    row = end;
  }
  if (!keeps) return;
  stored->latest = state.values();
  stored->latest_row = row;
}

}  // namespace midscope

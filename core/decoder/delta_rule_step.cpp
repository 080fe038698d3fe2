// SPDX-License-Identifier: MIT
#include "core/decoder/delta_rule_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/decoder/show_rows.h"
#include "core/decoder/trace_storage.h"
#include "kernels/check.h"
#include "kernels/delta_rule.h"

namespace midscope {
namespace {

// Added to the squared length by which queries and keys are divided, as in transformers.
constexpr double kLengthEpsilon = 1e-6;

// Returns the last row up to `row` whose state before it is known.
int64_t StateRow(const Trace& trace, int64_t layer, int64_t row) {
  const DeltaStates& states = trace.storage().delta_states.at(layer);
  return states.latest_row == row ? row : row / kStateRows * kStateRows;
}

// A state that is being advanced: every head's matrix, and the last inputs of the convolution.
class RunningState {
 public:
  // values: those of DeltaStates, which are advanced in place.
  RunningState(const DeltaRule& rule, at::Tensor values)
      : values_(std::move(values)),
        matrices_(values_.narrow(0, 0, rule.value_heads * rule.key_dim * rule.value_dim)),
        inputs_(values_.narrow(0, matrices_.numel(), values_.numel() - matrices_.numel())
                    .view({rule.taps - 1, rule.mixed_width()})) {}

  const at::Tensor& values() const { return values_; }
  float* matrices() const { return matrices_.data_ptr<float>(); }
  const at::Tensor& inputs() const { return inputs_; }  // [taps - 1, mixed width]

 private:
  at::Tensor values_;
  at::Tensor matrices_;
  at::Tensor inputs_;
};

// x [row, mixed width] after the convolution and its activation. state.inputs() is advanced.
at::Tensor Convolved(const at::Tensor& x, const at::Tensor& taps, const RunningState& state) {
  const at::Tensor all = at::cat({state.inputs(), x});
  at::Tensor sum = all.narrow(0, 0, x.size(0)) * taps[0];
  for (int64_t tap = 1; tap < taps.size(0); ++tap)
    sum.addcmul_(all.narrow(0, tap, x.size(0)), taps[tap]);
  state.inputs().copy_(all.narrow(0, x.size(0), taps.size(0) - 1));
  return at::silu_(sum);
}

// Heads of x [row, head, dim] divided by their length.
at::Tensor UnitHeads(const at::Tensor& x) {
  return x * at::rsqrt(x.square().sum(-1, /*keepdim=*/true) + kLengthEpsilon);
}

// Rows as inputs of the rule, float32.
struct RuleRows {
  at::Tensor q, k;         // [row, key head, key dim], contiguous as what follows
  at::Tensor v;            // [row, value width]
  at::Tensor rate, decay;  // [row, value head]
  at::Tensor gate;         // [row, value width], of the output; any row stride
};

// Returns the inputs of rows with these projections [row, outputs], and advances the rows of
// the state's convolution.
RuleRows MakeRows(const DeltaStep& step, const at::Tensor& projected, const RunningState& state) {
  const DeltaRule& rule = step.config.delta_rule;
  const DeltaWeights& weights = step.weights;
  const int64_t rows = projected.size(0);
  int64_t column = 0;
  const auto next = [&](int64_t width) {
    column += width;
    return projected.narrow(1, column - width, width);
  };
  const at::Tensor mixed = Convolved(next(rule.mixed_width()), weights.taps, state);
  const at::Tensor gate = next(rule.value_width());
  const at::Tensor rate = at::sigmoid(next(rule.value_heads));
  const at::Tensor decay =
      at::exp(at::softplus(next(rule.value_heads) + weights.decay_bias) * weights.decay_scale);
  const auto heads = [&](int64_t first) {
    return UnitHeads(
        mixed.narrow(1, first, rule.key_width()).reshape({rows, rule.key_heads, rule.key_dim}));
  };
  const at::Tensor q = heads(0) / std::sqrt(static_cast<double>(rule.key_dim));
  const at::Tensor k = heads(rule.key_width());
  const at::Tensor v = mixed.narrow(1, 2 * rule.key_width(), rule.value_width()).contiguous();
  return {q, k, v, rate, decay, gate};
}

kernels::DeltaShape ShapeOf(const DeltaRule& rule) {
  return {rule.key_heads, rule.value_heads, rule.key_dim, rule.value_dim, rule.tiled};
}

// Returns z [row, value width] of the rows, and advances the state's matrices.
at::Tensor MixRows(const DeltaStep& step, const RuleRows& in, const RunningState& state) {
  const DeltaRule& rule = step.config.delta_rule;
  const int64_t rows = in.v.size(0);
  at::Tensor out = at::empty({rows, rule.value_heads, rule.value_dim}, at::kFloat);
  kernels::GatedDeltaRule(ShapeOf(rule), in.q.const_data_ptr<float>(), in.k.const_data_ptr<float>(),
                          in.v.const_data_ptr<float>(), in.decay.const_data_ptr<float>(),
                          in.rate.const_data_ptr<float>(), rows, state.matrices(),
                          out.data_ptr<float>(), step.executor, step.context.cancel);
  step.context.ThrowIfCancelled();
  out *= at::rsqrt(out.square().mean(-1, /*keepdim=*/true) + step.config.norm_epsilon);
  out *= step.weights.norm;
  return out.view({rows, rule.value_width()}).mul_(at::silu(in.gate));
}

// Shows the weights of the values of all rows up to each requested one. parts: the rows from row 0
// on.
void ShowEffectivePattern(const DeltaStep& step, const SequencePass& sequence, int64_t layer,
                          const std::vector<RuleRows>& parts) {
  const auto join = [&](const at::Tensor RuleRows::*member) {
    std::vector<at::Tensor> tensors;
    tensors.reserve(parts.size());
    for (const RuleRows& part : parts) tensors.push_back(part.*member);
    return at::cat(tensors).contiguous();
  };
  const at::Tensor q = join(&RuleRows::q);
  const at::Tensor k = join(&RuleRows::k);
  const at::Tensor decay = join(&RuleRows::decay);
  const at::Tensor rate = join(&RuleRows::rate);
  const HookPoint point{HookSite::kEffectivePattern, layer};
  const RowRange wanted = sequence.hooks->Wanted(point.site, layer);
  for (int64_t row = wanted.first; row < std::min(wanted.last, sequence.rows); ++row) {
    const at::Tensor weights =
        at::empty({1, step.config.delta_rule.value_heads, row + 1}, at::kFloat);
    kernels::DeltaRuleWeights(ShapeOf(step.config.delta_rule), q[row].const_data_ptr<float>(),
                              k.const_data_ptr<float>(), decay.const_data_ptr<float>(),
                              rate.const_data_ptr<float>(), row + 1, weights.data_ptr<float>(),
                              step.executor, step.context.cancel);
    step.context.ThrowIfCancelled();
    ShowHostWeights(sequence, point, row, weights);
  }
}

// Returns the values of the state before a row, to be advanced: in place those of the trace's last
// row, if the pass keeps its rows.
at::Tensor ValuesBefore(const DeltaRule& rule, const DeltaStates* stored, int64_t row, bool keeps) {
  if (row == 0) return at::zeros({DeltaStateSize(rule)}, at::kFloat);
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
    if (config.HasAttention(layer) || first >= sequence.rows) continue;
    start = std::min(start, StateRow(trace, layer, first));
  }
  for (auto layer = static_cast<size_t>(trace.first_layer()); layer < sequence.first_row.size();
       ++layer) {
    int64_t& first = sequence.first_row[layer];
    if (first < sequence.rows) first = std::min(first, start);
  }
}

void MixByDeltaRule(const DeltaStep& step, const SequencePass& sequence, int64_t layer,
                    const at::Tensor& projected, const at::Tensor& z) {
  auto& all_states = sequence.trace->storage().delta_states;
  const auto found = all_states.find(layer);
  DeltaStates* stored = found == all_states.end() ? nullptr : &found->second;
  const bool keeps = stored != nullptr && sequence.keeps();
  int64_t row = sequence.active_first;
  const DeltaRule& rule = step.config.delta_rule;
  const RunningState state(rule, ValuesBefore(rule, stored, row, keeps));
  if (keeps) stored->latest_row = 0;
  const bool shows = ShowsEffectivePattern(sequence, layer);
  std::vector<RuleRows> shown;
  while (row < sequence.rows) {
    const int64_t end = std::min(sequence.rows, (row / kStateRows + 1) * kStateRows);
    const int64_t packed = sequence.packed_begin + row - sequence.active_first;
    const auto rows = [&](const at::Tensor& of) { return of.narrow(0, packed, end - row); };
    const RuleRows in = MakeRows(step, rows(projected).to(at::kCPU, at::kFloat), state);
    rows(z).copy_(MixRows(step, in, state));
    if (shows) shown.push_back(in);
    if (keeps && end % kStateRows == 0) stored->kept[end / kStateRows - 1].copy_(state.values());
    row = end;
  }
  if (shows) ShowEffectivePattern(step, sequence, layer, shown);
  if (!keeps) return;
  stored->latest = state.values();
  stored->latest_row = row;
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/decoder/attention/scaled_projections.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/compute/query_key_finish.h"
#include "core/decoder/attention/latent_attention.h"
#include "core/decoder/trace_storage.h"

namespace midscope {
namespace {

const Trace::Storage& Store(const ProjectionSource& source) {
  return source.sequence.trace->storage();
}

// Returns [rows] float32, a new tensor: factor times the projections' input channel for every row
// of the sequence, with earlier rows from the trace. Computed in the order of the norm's kernel,
// and rounded like its output.
at::Tensor ChannelValues(const ProjectionSource& source, int64_t channel,
                         const ColumnFactor& factor) {
  const SequencePass& sequence = source.sequence;
  const int64_t past = sequence.active_first;
  at::Tensor values = at::empty({sequence.rows}, source.normalized.options().dtype(at::kFloat));
  if (past > 0) {
    const auto layer = static_cast<size_t>(source.layer);
    const Trace::Storage& store = Store(source);
    const Norm& norm = source.weights.attention_norm;
    NormOfColumn of_channel;
    if (source.config.input_norms) {
      of_channel.scale = store.norm_scale[layer].narrow(0, 0, past);
      if (source.config.norm == NormKind::kLayer)
        of_channel.mean = store.norm_mean[layer].narrow(0, 0, past);
      of_channel.weight = norm.weight[static_cast<size_t>(channel)];
      if (!norm.bias.empty()) of_channel.bias = norm.bias[static_cast<size_t>(channel)];
    }
    source.ops.NormaliseColumn(store.residual[layer].narrow(0, 0, past).select(1, channel),
                               of_channel, factor, values.narrow(0, 0, past));
  }
  source.ops.NormaliseColumn(
      source.normalized.narrow(0, sequence.packed_begin, sequence.active_rows()).select(1, channel),
      {}, factor, values.narrow(0, past, sequence.active_rows()));
  return values;
}

// Returns 1 - factor of the i-th scaled channel as a tensor on the device; undefined if the plan's
// factor must be used.
at::Tensor AmountOnDevice(const ProjectionSource& source, size_t i) {
  const std::vector<at::Tensor>& amounts = source.sequence.channel_amounts;
  if (amounts.empty()) return {};
  return amounts[static_cast<size_t>(source.layer)].narrow(0, static_cast<int64_t>(i), 1);
}

// A projection that is changed channel by channel, and the buffer for the next change.
struct Changing {
  at::Tensor now;
  at::Tensor out;
  void Subtract(const LayerOps& ops, const at::Tensor& amount, const at::Tensor& direction) {
    ops.RankOneUpdate(now, amount, direction, out);
    now = out;
  }
};

// Number of input rows that are scaled and projected at a time.
constexpr int64_t kScaledRows = 512;

// Returns a copy of rows of the projections' input, taken from the trace or the active rows.
at::Tensor InputRows(const ProjectionSource& source, RowRange rows) {
  const SequencePass& sequence = source.sequence;
  at::Tensor input =
      at::empty({rows.last - rows.first, source.config.hidden}, source.normalized.options());
  const int64_t past = std::clamp(sequence.active_first, rows.first, rows.last);
  if (past > rows.first) {
    const at::Tensor before = input.narrow(0, 0, past - rows.first);
    const at::Tensor residual = Store(source).residual[static_cast<size_t>(source.layer)].narrow(
        0, rows.first, past - rows.first);
    source.ops.Normalise(source.config.norm, residual, source.weights.attention_norm,
                         static_cast<float>(source.config.norm_epsilon), before, {});
  }
  if (rows.last > past) {
    const int64_t packed = sequence.packed_begin + past - sequence.active_first;
    input.narrow(0, past - rows.first, rows.last - past)
        .copy_(source.normalized.narrow(0, packed, rows.last - past));
  }
  return input;
}

// Calls visit(scaled input, index within `rows` of its first row) for a few rows at a time.
template <typename Visit>
void VisitScaledInput(const ProjectionSource& source, const std::vector<ScaledChannel>& channels,
                      RowRange rows, kernels::CancelFlag cancel, const Visit& visit) {
  for (int64_t first = rows.first; first < rows.last; first += kScaledRows) {
    if (kernels::Cancelled(cancel)) throw Cancelled();
    const at::Tensor input = InputRows(source, {first, std::min(first + kScaledRows, rows.last)});
    for (const ScaledChannel& scaled : channels)
      input.select(1, scaled.channel).mul_(scaled.factor);
    visit(input, first - rows.first);
  }
}

ScaledProjections ScaleLatentChannels(const ProjectionSource& source, const RowOverride& change,
                                      RowRange rows, const kernels::Executor& executor,
                                      kernels::CancelFlag cancel) {
  const ModelConfig& config = source.config;
  JobContext job;
  job.cancel = cancel;
  const LatentStep step{config, source.ops, source.weights.latent, {executor, job}};
  const RowRange all{0, source.sequence.rows};
  const auto empty = [&](int64_t length, int64_t width) {
    return at::empty({length, width}, source.projected.options());
  };
  ScaledProjections scaled{empty(rows.last - rows.first, config.heads * config.head_dim),
                           empty(all.last, config.head_dim),
                           Store(source).Values(source.layer),
                           {}};
  VisitScaledInput(source, change.channels, rows, cancel, [&](const at::Tensor& x, int64_t first) {
    ProjectLatentQueries(step, x, scaled.q.narrow(0, first, x.size(0)));
  });
  VisitScaledInput(source, change.channels, all, cancel, [&](const at::Tensor& x, int64_t first) {
    ProjectLatentKey(step, x, scaled.k.narrow(0, first, x.size(0)));
  });
  std::vector<ScaledChannel> of_values;
  std::copy_if(change.channels.begin(), change.channels.end(), std::back_inserter(of_values),
               [](const ScaledChannel& channel) { return channel.change_value; });
  if (of_values.empty()) return scaled;
  scaled.v = empty(all.last, config.head_dim);
  VisitScaledInput(source, of_values, all, cancel, [&](const at::Tensor& x, int64_t first) {
    const at::Tensor value = scaled.v.narrow(0, first, x.size(0));
    ProjectLatentKey(step, x, value);
    value.narrow(1, 0, config.rope_dimensions).zero_();
  });
  return scaled;
}

}  // namespace

float AmountOf(const ScaledChannel& scaled) { return static_cast<float>(1.0 - scaled.factor); }

ScaledProjections ScaleChannels(const ProjectionSource& source, const RowOverride& change,
                                RowRange rows, bool leaves_keys, const kernels::Executor& executor,
                                kernels::CancelFlag cancel) {
  const ModelConfig& config = source.config;
  if (config.latent.used()) return ScaleLatentChannels(source, change, rows, executor, cancel);
  const SequencePass& sequence = source.sequence;
  const int64_t q_width = config.QueryWidth(source.layer);
  const bool own_keys = !config.SharesKeys(source.layer);
  const int64_t kv_width = own_keys ? config.KeyWidth(source.layer) : 0;
  const int64_t key_heads = config.KeyValueHeads(source.layer);
  const int64_t count = rows.last - rows.first;
  const bool changes_values =
      own_keys && std::any_of(change.channels.begin(), change.channels.end(),
                              [](const ScaledChannel& scaled) { return scaled.change_value; });
  const auto empty = [&](int64_t length, int64_t width) {
    return at::empty({length, width}, source.projected.options());
  };
  const int64_t first = sequence.packed_begin + rows.first - sequence.active_first;
  Changing q{source.projected.narrow(0, first, count).narrow(1, 0, q_width), empty(count, q_width)};
  const bool leaves = leaves_keys && change.channels.size() == 1 && !FinishesQueryKey(config);
  KeyUpdate update;
  Changing k{Store(source).ProjectedKeys(source.layer).narrow(0, 0, sequence.rows), {}};
  if (!leaves) k.out = empty(sequence.rows, kv_width);
  Changing v{Store(source).Values(source.layer), {}};
  if (changes_values) {
    v = {Store(source).ProjectedValues(source.layer).narrow(0, 0, sequence.rows),
         empty(sequence.rows, kv_width)};
  }
  for (size_t i = 0; i < change.channels.size(); ++i) {
    const ScaledChannel& scaled = change.channels[i];
    if (kernels::Cancelled(cancel)) throw Cancelled();
    const at::Tensor amount =
        ChannelValues(source, scaled.channel, {AmountOf(scaled), AmountOnDevice(source, i)});
    const at::Tensor column = source.weights.query_key_value.weight.Column(
        scaled.channel, q_width + (scaled.change_value ? 2 : 1) * kv_width, executor,
        /*keep=*/source.sequence.recorded == nullptr);
    source.ops.KeepRecorded(column);
    q.Subtract(source.ops, amount.narrow(0, rows.first, count), column.narrow(0, 0, q_width));
    if (!own_keys) continue;
    const at::Tensor of_keys = column.narrow(0, q_width, kv_width);
    if (leaves) {
      update = {amount, of_keys};
    } else {
      k.Subtract(source.ops, amount, of_keys);
    }
    if (scaled.change_value)
      v.Subtract(source.ops, amount, column.narrow(0, q_width + kv_width, kv_width));
  }
  if (FinishesQueryKey(config)) {
    FinishHeads(config, source.ops, source.weights.query_norm, config.heads, q.now, q.now);
    if (own_keys) FinishHeads(config, source.ops, source.weights.key_norm, key_heads, k.now, k.now);
  }
  if (changes_values && FinishesValue(config))
    FinishHeads(config, source.ops, source.weights.value_norm, key_heads, v.now, v.now);
  return {q.now, k.now, v.now, update};
}

}  // namespace midscope

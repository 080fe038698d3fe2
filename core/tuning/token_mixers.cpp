// SPDX-License-Identifier: MIT
#include "core/tuning/token_mixers.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/compute/weights.h"

namespace midscope {
namespace {

constexpr int64_t kChunk = 64;

// The recurrences of kernels/delta_rule.h. Returns [head, token, value_dim] for queries and keys
// [head, token, key_dim], values [head, token, value_dim], and logarithms of decays and rates, both
// [head, token]; all float32. Undefined rates: a state space. Tokens are taken 64 at a time (arXiv
// 2406.06484, section 3.2): time and memory grow with their number alone.
at::Tensor ChunkedDeltaRule(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& log_decay, const at::Tensor& rate) {
  const int64_t tokens = q.size(1);
  const int64_t padding = (kChunk - tokens % kChunk) % kChunk;
  // [head, chunk, token, dim]
  const auto chunks = [&](const at::Tensor& x) {
    return at::constant_pad_nd(x, {0, 0, 0, padding}).unflatten(1, {-1, kChunk});
  };
  const at::Tensor queries = chunks(q);
  const at::Tensor keys = chunks(k);
  // [head, chunk, token]: the logarithm of the decay from the chunk's begin on.
  const at::Tensor decays =
      at::constant_pad_nd(log_decay, {0, padding}).unflatten(1, {-1, kChunk}).cumsum(-1);
  const at::Tensor since_begin = decays.exp().unsqueeze(-1);
  const at::Tensor until_end = (decays.narrow(-1, kChunk - 1, 1) - decays).exp().unsqueeze(-1);
  const at::Tensor later = at::ones({kChunk, kChunk}, q.options().dtype(at::kBool)).triu(1);
  const at::Tensor between = (decays.unsqueeze(-1) - decays.unsqueeze(-2))
                                 .masked_fill(later, -std::numeric_limits<float>::infinity())
                                 .exp();
  const at::Tensor scores = at::matmul(queries, keys.transpose(-1, -2)) * between;
  at::Tensor values = chunks(rate.defined() ? v * rate.unsqueeze(-1) : v);
  at::Tensor recalls;
  if (rate.defined()) {
    // A token adds what the earlier tokens of its chunk have not added yet.
    const at::Tensor rated_keys = chunks(k * rate.unsqueeze(-1));
    const at::Tensor system = at::matmul(rated_keys, keys.transpose(-1, -2)) * between;
    const auto solved = [&](const at::Tensor& right) {
      return at::linalg_solve_triangular(system, right, /*upper=*/false, /*left=*/true,
                                         /*unitriangular=*/true);
    };
    values = solved(values);
    recalls = solved(rated_keys * since_begin);
  }
  const at::Tensor reads = queries * since_begin;
  const at::Tensor writes = (keys * until_end).transpose(-1, -2);
  at::Tensor state = at::zeros({q.size(0), q.size(2), v.size(2)}, q.options());
  std::vector<at::Tensor> out;
  out.reserve(static_cast<size_t>(queries.size(1)));
  for (int64_t chunk = 0; chunk < queries.size(1); ++chunk) {
    at::Tensor added = values.select(1, chunk);
    if (recalls.defined()) added = added - at::matmul(recalls.select(1, chunk), state);
    out.push_back(at::matmul(reads.select(1, chunk), state) +
                  at::matmul(scores.select(1, chunk), added));
    state = state * since_begin.select(1, chunk).narrow(1, kChunk - 1, 1) +
            at::matmul(writes.select(1, chunk), added);
  }
  return at::cat(out, 1).narrow(1, 0, tokens);
}

// x [..., width], float32.
at::Tensor RmsNormed(const ModelConfig& config, const at::Tensor& x) {
  return x * at::rsqrt(x.square().mean(-1, /*keepdim=*/true) + config.norm_epsilon);
}

// Returns x [token, channel], float32, after the convolution.
at::Tensor Convolved(const MixerTensors& tensors, const at::Tensor& x) {
  const at::Tensor taps = tensors.weight("taps").to(at::kFloat);
  const at::Tensor channels = at::constant_pad_nd(x.t(), {taps.size(1) - 1, 0});
  const at::Tensor bias = tensors.weight("taps.bias");
  return at::conv1d(channels.unsqueeze(0), taps.unsqueeze(1),
                    bias.defined() ? std::optional(bias.to(at::kFloat)) : std::nullopt, 1,
                    at::IntArrayRef{0}, 1, x.size(1))
      .squeeze(0)
      .t();
}

at::Tensor LogDecays(const ModelConfig& config, const MixerTensors& tensors,
                     const at::Tensor& steps) {
  const at::Tensor scale = tensors.weight("decay_scale").to(at::kFloat);
  const bool log = config.delta_rule.log_decays || config.state_space.log_decays;
  return steps * (log ? -scale.exp() : scale);
}

at::Tensor MixByDeltaRule(const ModelConfig& config, const MixerTensors& tensors,
                          const at::Tensor& x) {
  const DeltaRule& rule = config.delta_rule;
  const auto floats = [&](const std::string& name) { return tensors.weight(name).to(at::kFloat); };
  const auto projected = [&](const std::string& name) {
    return tensors.linear(name, x).to(at::kFloat);
  };
  const at::Tensor mixed = at::silu(Convolved(tensors, projected("mixed")));
  const int64_t shared = rule.value_heads / rule.key_heads;
  const auto of_value_heads = [&](int64_t first) {
    const at::Tensor heads = mixed.narrow(1, first, rule.key_width())
                                 .unflatten(1, {rule.key_heads, rule.key_dim})
                                 .transpose(0, 1);
    const at::Tensor unit = heads * at::rsqrt(heads.square().sum(-1, true) + 1e-6);
    return rule.tiled ? unit.repeat({shared, 1, 1}) : unit.repeat_interleave(shared, 0);
  };
  const at::Tensor q = of_value_heads(0) / std::sqrt(static_cast<double>(rule.key_dim));
  const at::Tensor v = mixed.narrow(1, 2 * rule.key_width(), rule.value_width())
                           .unflatten(1, {rule.value_heads, rule.value_dim})
                           .transpose(0, 1);
  const at::Tensor log_decay =
      LogDecays(config, tensors, at::softplus(projected("decay") + floats("decay_bias")));
  const at::Tensor out = ChunkedDeltaRule(q, of_value_heads(rule.key_width()), v, log_decay.t(),
                                          at::sigmoid(projected("rate")).t());
  const at::Tensor normed = (RmsNormed(config, out) * floats("norm")).transpose(0, 1);
  return tensors.linear("out",
                        (normed.flatten(1) * at::silu(projected("gate"))).to(x.scalar_type()));
}

at::Tensor MixByStateSpace(const ModelConfig& config, const MixerTensors& tensors,
                           const at::Tensor& x) {
  const StateSpace& space = config.state_space;
  const auto floats = [&](const std::string& name) { return tensors.weight(name).to(at::kFloat); };
  at::Tensor projected = tensors.linear("in", x).to(at::kFloat);
  const at::Tensor scales = ProjectionScales(space);
  if (scales.defined()) projected = projected * scales.to(projected.device());
  const at::Tensor gate = projected.narrow(1, 0, space.width());
  const at::Tensor mixed =
      at::silu(Convolved(tensors, projected.narrow(1, space.width(), space.mixed_width())));
  const at::Tensor steps = at::softplus(
      projected.narrow(1, space.width() + space.mixed_width(), space.heads) + floats("decay_bias"));
  // [head, token, dim]
  const auto heads = [&](int64_t first, int64_t count, int64_t dim) {
    return mixed.narrow(1, first, count * dim).unflatten(1, {count, dim}).transpose(0, 1);
  };
  const auto of_groups = [&](int64_t first) {
    return heads(first, space.groups, space.state_dim)
        .repeat_interleave(space.heads / space.groups, 0);
  };
  const at::Tensor values = heads(0, space.heads, space.head_dim);
  const at::Tensor out =
      ChunkedDeltaRule(of_groups(space.width() + space.group_width()), of_groups(space.width()),
                       values * steps.t().unsqueeze(-1), LogDecays(config, tensors, steps).t(),
                       {}) +
      values * floats("skip").view({-1, 1, 1});
  const auto normed = [&](const at::Tensor& rows) {
    return RmsNormed(config, rows.unflatten(1, {space.groups, -1})).flatten(1) * floats("norm");
  };
  at::Tensor z = out.transpose(0, 1).flatten(1);
  if (space.norm == GatedNorm::kBeforeGate) z = normed(z);
  z = z * at::silu(gate);
  if (space.norm == GatedNorm::kAfterGate) z = normed(z);
  return tensors.linear("out", z.to(x.scalar_type()));
}

}  // namespace

at::Tensor MixTokens(const ModelConfig& config, const MixerTensors& tensors, const at::Tensor& x) {
  if (config.delta_rule.used()) return MixByDeltaRule(config, tensors, x);
  if (config.state_space.used()) return MixByStateSpace(config, tensors, x);
  const std::vector<at::Tensor> parts = tensors.linear("in", x).to(at::kFloat).chunk(3, 1);
  return tensors.linear("out",
                        (parts[1] * Convolved(tensors, parts[0] * parts[2])).to(x.scalar_type()));
}

}  // namespace midscope

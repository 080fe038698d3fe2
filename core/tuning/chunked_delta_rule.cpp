// SPDX-License-Identifier: MIT
#include "core/tuning/chunked_delta_rule.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace midscope {
namespace {

constexpr int64_t kChunk = 64;

}  // namespace

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

}  // namespace midscope

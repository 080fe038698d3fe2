// SPDX-License-Identifier: MIT
#include "core/compute/compressive_memory.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"

namespace midscope {
namespace {

// Returns ELU(x) + 1 of [rows, heads * head_dim], as [heads, rows, head_dim] float32. Below 0 it is
// computed as e^x, because ELU followed by + 1 would round small values to 0.
at::Tensor Feature(const at::Tensor& x, int64_t head_dim) {
  const at::Tensor heads =
      x.view({x.size(0), x.size(1) / head_dim, head_dim}).transpose(0, 1).to(at::kFloat);
  return at::where(heads > 0, heads + 1, heads.exp());
}

// Returns the memory's output for features [key-value head, row, head_dim], in the same shape.
at::Tensor Retrieve(const SegmentMemory& state, const at::Tensor& features) {
  return at::bmm(features, state.matrix).div_(at::bmm(features, state.key_sums));
}

void PutSegment(const at::Tensor& k, const at::Tensor& v, int64_t head_dim, SegmentMemory& state) {
  const at::Tensor features = Feature(k, head_dim);
  at::Tensor values =
      v.view({v.size(0), v.size(1) / head_dim, head_dim}).transpose(0, 1).to(at::kFloat);
  const at::Tensor sums = features.sum(1, /*keepdim=*/true).transpose(1, 2);
  const bool empty = state.rows == 0;
  if (!empty && state.update == MemoryUpdate::kDelta) values = values - Retrieve(state, features);
  const at::Tensor matrix = at::bmm(features.transpose(1, 2), values);
  state.matrix = empty ? matrix : state.matrix + matrix;
  state.key_sums = empty ? sums.contiguous() : state.key_sums + sums;
  state.rows += k.size(0);
}

}  // namespace

void AdvanceMemory(const CompressiveMemory& memory, const at::Tensor& k, const at::Tensor& v,
                   int64_t head_dim, int64_t rows, kernels::CancelFlag cancel,
                   SegmentMemory& state) {
  if (state.segment != memory.segment || state.update != memory.update || state.rows > rows)
    state = {memory.segment, memory.update, 0, {}, {}};
  while (state.rows < rows) {
    if (kernels::Cancelled(cancel)) throw Cancelled();
    PutSegment(k.narrow(0, state.rows, memory.segment), v.narrow(0, state.rows, memory.segment),
               head_dim, state);
  }
}

void AddMemory(const CompressiveMemory& memory, const SegmentMemory& state, const at::Tensor& q,
               int64_t head_dim, const at::Tensor& z) {
  const int64_t rows = q.size(0);
  const int64_t heads = q.size(1) / head_dim;
  const int64_t groups = state.matrix.size(0);
  // Query heads with the same key-value head share a memory, so they are treated as extra rows.
  const at::Tensor features =
      Feature(q, head_dim).contiguous().view({groups, heads / groups * rows, head_dim});
  const at::Tensor read =
      Retrieve(state, features).view({heads, rows, head_dim}).transpose(0, 1).contiguous();
  ScaleHeads({memory.gates.begin(), memory.gates.end()}, read);
  z.view({rows, heads, head_dim}).add_(read);
}

void ScaleHeads(const std::vector<float>& factors, const at::Tensor& x) {
  const at::Tensor host = at::empty({1, static_cast<int64_t>(factors.size()), 1}, at::kFloat);
  std::copy(factors.begin(), factors.end(), host.data_ptr<float>());
  x.mul_(host.to(x.device()));
}

}  // namespace midscope

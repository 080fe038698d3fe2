// SPDX-License-Identifier: MIT
#include "core/compute/cuda_ops.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <optional>

#include "core/compute/angle_arguments.h"
#include "core/compute/device_copy.h"
#include "kernels/cuda/launch.h"

namespace midscope {
namespace {

// So many rows keep float32, as on the CPU (kernels/attention.h).
constexpr int64_t kFewRows = 4;
// From here on cuDNN is so much faster that what it prepares for each new length does not matter.
constexpr int64_t kCudnnRows = 4096;
constexpr int64_t kCudnnHeadDim = 128;
// Of the largest head that LibTorch's flash attention takes.
constexpr int64_t kFlashHeadDim = 256;

bool PairsFit(const std::vector<kernels::RotaryView>& views) {
  return std::all_of(views.begin(), views.end(), [](const kernels::RotaryView& view) {
    return !view.cos || view.pairs % kernels::cuda::kChunk == 0;
  });
}

template <class T>
bool AllEqual(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const T& value) { return value == values.front(); });
}

// Whether what LibTorch's attention computes is what is asked for.
bool IsPlain(const kernels::AttentionShape& shape, const RotaryTables& tables) {
  return shape.softcap == 0 && tables.near == 0 && tables.alibi_slopes.empty() &&
         tables.edits.temperature.empty() && AllEqual(tables.scale);
}

// Every `step`-th head of x [rows, heads * head_dim] from `first` on, in place: [1, rows, heads /
// step, head_dim].
at::Tensor EveryHead(const at::Tensor& x, int64_t head_dim, int64_t first, int64_t step) {
  const int64_t begin = first * head_dim;
  return x.narrow(1, begin, x.size(1) - begin)
      .as_strided({1, x.size(0), x.size(1) / head_dim / step, head_dim},
                  {x.size(0) * x.stride(0), x.stride(0), step * head_dim, 1});
}

// LibTorch's attention of rotated queries and keys, [1, rows, heads, head_dim].
at::Tensor ByFlash(const kernels::AttentionShape& shape, const at::Tensor& queries,
                   const at::Tensor& keys, const at::Tensor& values, double scale) {
  if (shape.first_query == 0 && shape.window == 0 && queries.size(1) >= kCudnnRows &&
      shape.head_dim <= kCudnnHeadDim) {
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(
                           queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2),
                           std::nullopt, /*compute_log_sumexp=*/false, 0.0, /*is_causal=*/true,
                           /*return_debug_mask=*/false, scale))
        .transpose(1, 2);
  }
  // Its causal limit is that of the last key, unlike that of at::scaled_dot_product_attention.
  const bool window = shape.window > 0;
  return std::get<0>(at::_flash_attention_forward(
      queries, keys, values, std::nullopt, std::nullopt, queries.size(1), keys.size(1), 0.0,
      /*is_causal=*/!window, /*return_debug_mask=*/false, scale,
      window ? std::optional<int64_t>(shape.window - 1) : std::nullopt,
      window ? std::optional<int64_t>(0) : std::nullopt));
}

template <class T>
const T* Data(const at::Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}

bool TablesFit(const kernels::AttentionShape& shape, const RotaryTables& tables) {
  return shape.head_dim % kernels::cuda::kChunk == 0 && PairsFit(tables.q) && PairsFit(tables.k) &&
         PairsFit(tables.far_q) && PairsFit(tables.far_k);
}

}  // namespace

// Moved tables have numbers, and no angles.
AtenOps::DeviceTable CudaOps::MakeTable(
    const std::shared_ptr<const RotaryCache::Table>& host) const {
  if (!host->angles()) return AtenOps::MakeTable(host);
  const c10::DeviceGuard guard(device());
  const AngleTable table = AngleTableOn(device(), *host);
  kernels::cuda::FormAngles(table.arguments);
  return {host, table.cos, table.sin};
}

kernels::cuda::Table CudaOps::OnGpu(const RotaryTables& tables,
                                    const std::vector<kernels::RotaryView>& views, size_t head,
                                    std::vector<DeviceTable>* kept) const {
  if (views.empty() || !views[head].cos) return {};
  const DeviceTable& table = kept->emplace_back(TableOf(tables, views[head]));
  return {table.cos.const_data_ptr<float>(), table.sin.const_data_ptr<float>(),
          static_cast<int>(views[head].pairs)};
}

// x [rows, heads * head_dim] from table row `first` on, each head by its view of `every`: the same,
// contiguous.
template <class T>
at::Tensor CudaOps::RotatedHeads(const at::Tensor& x, int64_t first, int64_t head_dim,
                                 const RotaryTables& tables,
                                 const std::vector<kernels::RotaryView>& views,
                                 const EveryView& every) const {
  std::vector<DeviceTable> kept;
  std::vector<kernels::cuda::Table> of_heads;
  of_heads.reserve(views.size());
  for (auto head = static_cast<size_t>(every.first); head < views.size();
       head += static_cast<size_t>(every.step)) {
    of_heads.push_back(OnGpu(tables, views, head, &kept));
  }
  const at::Tensor on_gpu = CopiedTo<kernels::cuda::Table>(device(), of_heads);
  at::Tensor out = at::empty({x.size(0), x.size(1)}, x.options());
  kernels::cuda::RotateArguments<T> arguments;
  arguments.x = Data<T>(x);
  arguments.out = static_cast<T*>(out.data_ptr());
  arguments.x_stride = x.stride(0);
  arguments.out_stride = out.stride(0);
  arguments.rows = x.size(0);
  arguments.heads = x.size(1) / head_dim;
  arguments.head_dim = static_cast<int>(head_dim);
  arguments.first = first;
  arguments.tables = static_cast<const kernels::cuda::Table*>(on_gpu.const_data_ptr());
  kernels::cuda::Rotate(arguments);
  return out;
}

// Where the heads of a group see their key at different positions, each member of the groups has
// its turn: the copy of the keys that is rotated for it is as large as the keys, and the next
// member's takes its place.
template <class T>
void CudaOps::ByLibTorch(const kernels::AttentionShape& shape, const at::Tensor& q,
                         const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                         const at::Tensor& out) const {
  const int64_t dim = shape.head_dim;
  const int64_t group = shape.heads / shape.key_value_heads;
  const int64_t turns = GroupsShareTables(tables.k, group) ? 1 : group;
  const at::Tensor queries = RotatedHeads<T>(q, shape.first_query, dim, tables, tables.q, {0, 1});
  const at::Tensor values = EveryHead(v, dim, 0, 1);
  for (int64_t member = 0; member < turns; ++member) {
    const at::Tensor keys = RotatedHeads<T>(k, 0, dim, tables, tables.k, {member, group});
    const at::Tensor z = ByFlash(shape, EveryHead(queries, dim, member, turns).contiguous(),
                                 EveryHead(keys, dim, 0, 1), values, tables.scale.front());
    EveryHead(out, dim, member, turns).copy_(z);
  }
}

std::vector<kernels::cuda::AttentionHead> CudaOps::Heads(const kernels::AttentionShape& shape,
                                                         const RotaryTables& tables,
                                                         std::vector<DeviceTable>* kept) const {
  std::vector<kernels::cuda::AttentionHead> heads(static_cast<size_t>(shape.heads));
  for (size_t head = 0; head < heads.size(); ++head) {
    kernels::cuda::AttentionHead& of = heads[head];
    of.q = OnGpu(tables, tables.q, head, kept);
    of.k = OnGpu(tables, tables.k, head, kept);
    of.far_q = OnGpu(tables, tables.far_q, head, kept);
    of.far_k = OnGpu(tables, tables.far_k, head, kept);
    of.scale = tables.scale[head];
    of.slope = tables.alibi_slopes.empty() ? 0.0f : tables.alibi_slopes[head];
    of.inverse_temperature = 1 / tables.Positions().Temperature(static_cast<int64_t>(head));
  }
  return heads;
}

template <class T>
void CudaOps::ByKernel(const kernels::AttentionShape& shape, const at::Tensor& q,
                       const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                       const at::Tensor& out) const {
  std::vector<DeviceTable> kept;
  const at::Tensor on_gpu =
      CopiedTo<kernels::cuda::AttentionHead>(device(), Heads(shape, tables, &kept));
  kernels::cuda::AttentionArguments<T> arguments;
  arguments.q = Data<T>(q);
  arguments.k = Data<T>(k);
  arguments.v = Data<T>(v);
  arguments.out = static_cast<T*>(out.data_ptr());
  arguments.q_stride = q.stride(0);
  arguments.k_stride = k.stride(0);
  arguments.v_stride = v.stride(0);
  arguments.out_stride = out.stride(0);
  arguments.query_rows = shape.query_rows;
  arguments.first_query = shape.first_query;
  arguments.heads = shape.heads;
  arguments.key_value_heads = shape.key_value_heads;
  arguments.window = shape.window;
  arguments.softcap = shape.softcap;
  arguments.near = tables.near;
  arguments.tables = static_cast<const kernels::cuda::AttentionHead*>(on_gpu.const_data_ptr());
  kernels::cuda::Attention(arguments, shape.head_dim);
}

bool CudaOps::Attention(const kernels::AttentionShape& shape, const at::Tensor& q,
                        const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                        const at::Tensor& out, kernels::CancelFlag cancel) const {
  if (kernels::Cancelled(cancel)) return false;
  if (shape.query_rows <= kFewRows) {
    WeightedValues(shape, AttentionWeights(shape, q, k, tables), v, out);
    return true;
  }
  const bool fits = out.scalar_type() != at::kFloat && RowsLieWell(q) && RowsLieWell(k) &&
                    RowsLieWell(v) && RowsLieWell(out) && TablesFit(shape, tables) &&
                    tables.edits.hidden.empty() && tables.edits.factors.empty() &&
                    tables.sinks.empty() && tables.query_weight.empty();
  const bool plain = IsPlain(shape, tables) && shape.head_dim <= kFlashHeadDim;
  if (!fits || (!plain && !kernels::cuda::HasAttention(shape.head_dim))) {
    return AtenOps::Attention(shape, q, k, v, tables, out, cancel);
  }
  const c10::DeviceGuard guard(device());
  const int64_t keys = shape.first_query + shape.query_rows;
  const auto run = [&](auto method) {
    (this->*method)(shape, q.narrow(0, 0, shape.query_rows), k.narrow(0, 0, keys),
                    v.narrow(0, 0, keys), tables, out.narrow(0, 0, shape.query_rows));
  };
  WithNarrowTypeOf(
      out, [&]<class T>(T) { plain ? run(&CudaOps::ByLibTorch<T>) : run(&CudaOps::ByKernel<T>); });
  return true;
}

// Logits before soft cap, ALiBi and edits, of keys from first_key on: [heads, query_rows, keys].
template <class T>
at::Tensor CudaOps::RowProducts(const kernels::AttentionShape& shape, const at::Tensor& q,
                                const at::Tensor& k, const RotaryTables& tables,
                                int64_t first_key) const {
  std::vector<DeviceTable> kept;
  const at::Tensor on_gpu =
      CopiedTo<kernels::cuda::AttentionHead>(device(), Heads(shape, tables, &kept));
  kernels::cuda::RowLogitsArguments<T> arguments;
  arguments.q = Data<T>(q);
  arguments.k = Data<T>(k);
  arguments.q_stride = q.stride(0);
  arguments.k_stride = k.stride(0);
  arguments.query_rows = shape.query_rows;
  arguments.first_query = shape.first_query;
  arguments.first_key = first_key;
  arguments.keys = shape.first_query + shape.query_rows - first_key;
  arguments.heads = shape.heads;
  arguments.key_value_heads = shape.key_value_heads;
  arguments.near = tables.near;
  arguments.head_dim = static_cast<int>(shape.head_dim);
  arguments.tables = static_cast<const kernels::cuda::AttentionHead*>(on_gpu.const_data_ptr());
  at::Tensor logits = at::empty({shape.heads, shape.query_rows, arguments.keys},
                                at::TensorOptions().dtype(at::kFloat).device(device()));
  arguments.logits = logits.data_ptr<float>();
  kernels::cuda::RowLogits(arguments);
  return logits;
}

at::Tensor CudaOps::AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                                     const at::Tensor& k, const RotaryTables& tables) const {
  if (!RowsLieWell(q) || !RowsLieWell(k) || !TablesFit(shape, tables) ||
      shape.head_dim > kernels::cuda::kRowHeadDim || !tables.query_weight.empty()) {
    return AtenOps::AttentionWeights(shape, q, k, tables);
  }
  const c10::DeviceGuard guard(device());
  const int64_t first_key = FirstSeenKey(shape, tables.edits, shape.first_query);
  const at::Tensor products =
      WithTypeOf(k, [&]<class T>(T) { return RowProducts<T>(shape, q, k, tables, first_key); });
  const at::Tensor seen = Softmaxed(shape, tables, products, 0, shape.first_query, first_key);
  if (seen.size(2) == shape.key_rows) return seen.transpose(0, 1).contiguous();
  const at::Tensor weights =
      at::zeros({shape.query_rows, shape.heads, shape.key_rows}, seen.options());
  weights.narrow(2, first_key, seen.size(2)).copy_(seen.transpose(0, 1));
  return weights;
}

void CudaOps::WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                             const at::Tensor& v, const at::Tensor& out) const {
  if (!RowsLieWell(v) || shape.head_dim % kernels::cuda::kChunk != 0 || weights.stride(2) != 1 ||
      shape.head_dim > kernels::cuda::kRowHeadDim) {
    AtenOps::WeightedValues(shape, weights, v, out);
    return;
  }
  const c10::DeviceGuard guard(device());
  const int64_t first_key = kernels::FirstVisibleKey(shape, shape.first_query);
  const at::Tensor sums = WithTypeOf(v, [&]<class T>(T) {
    kernels::cuda::RowValuesArguments<T> arguments;
    arguments.weights = weights.const_data_ptr<float>() + first_key;
    arguments.row_stride = weights.stride(0);
    arguments.head_stride = weights.stride(1);
    arguments.v = Data<T>(v) + first_key * v.stride(0);
    arguments.v_stride = v.stride(0);
    arguments.query_rows = shape.query_rows;
    arguments.keys = shape.first_query + shape.query_rows - first_key;
    arguments.heads = shape.heads;
    arguments.key_value_heads = shape.key_value_heads;
    arguments.head_dim = static_cast<int>(shape.head_dim);
    at::Tensor of_parts = at::empty(
        {kernels::cuda::PartsOf(arguments), shape.query_rows, shape.heads * shape.head_dim},
        weights.options());
    arguments.sums = of_parts.data_ptr<float>();
    kernels::cuda::RowValues(arguments);
    return of_parts;
  });
  out.narrow(0, 0, shape.query_rows).copy_(sums.sum(0));
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The attention of CudaOps for a few query rows.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "core/compute/cuda/cuda_ops.h"
#include "kernels/cuda/launch.h"

namespace midscope {

namespace {

// Whether logits are plain scaled products and the softmax covers exactly the visible keys: no
// edits or other additions.
bool IsPlainRow(const RotaryTables& tables) {
  return tables.softcap == 0 && tables.alibi_slopes.empty() && tables.sinks.empty() &&
         tables.edits.temperature.empty() && tables.edits.hidden.empty() &&
         tables.edits.factors.empty();
}

bool RowsFit(const kernels::AttentionShape& shape, const RotaryTables& tables, const at::Tensor& q,
             const at::Tensor& k) {
  return RowsAreAligned(q) && RowsAreAligned(k) && TablesFit(shape, tables) &&
         shape.head_dim <= kernels::cuda::kRowHeadDim && tables.query_weight.empty();
}

}  // namespace

template <class T>
kernels::cuda::RowLogitsArguments<T> CudaOps::RowArguments(const kernels::AttentionShape& shape,
                                                           const at::Tensor& q, const at::Tensor& k,
                                                           const KeyUpdate& update,
                                                           const RotaryTables& tables,
                                                           int64_t first_key,
                                                           std::vector<DeviceTable>* kept) const {
  kernels::cuda::RowLogitsArguments<T> arguments;
  arguments.q = DataOf<T>(q);
  arguments.k = DataOf<T>(k);
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
  arguments.tables = HeadsOnGpu(shape, tables, kept);
  if (update.amount.defined()) {
    arguments.amount = update.amount.const_data_ptr<float>();
    arguments.direction = update.direction.const_data_ptr<float>();
  }
  return arguments;
}

void CudaOps::RowAttention(const kernels::AttentionShape& shape, const at::Tensor& q,
                           const at::Tensor& k, const KeyUpdate& update, const at::Tensor& v,
                           const RotaryTables& tables, const at::Tensor& weights,
                           const at::Tensor& out) const {
  const int64_t first_key = kernels::FirstVisibleKey(shape, shape.first_query);
  if (!RowsFit(shape, tables, q, k) || !RowsAreAligned(v) || !RowsAreAligned(out) ||
      shape.head_dim % kernels::cuda::kChunk != 0 ||
      shape.first_query + shape.query_rows - first_key > kernels::cuda::kMostKeysTogether) {
    return AtenOps::RowAttention(shape, q, k, update, v, tables, weights, out);
  }
  const c10::DeviceGuard guard(device());
  WithTypeOf(k, [&]<class T>(T) {
    std::vector<DeviceTable> kept;
    kernels::cuda::RowAttentionArguments<T> arguments;
    arguments.rows = RowArguments<T>(shape, q, k, update, tables, first_key, &kept);
    arguments.v = DataOf<T>(v);
    arguments.v_stride = v.stride(0);
    arguments.window = shape.window;
    arguments.softcap = shape.softcap;
    arguments.edited = !IsPlainRow(tables);
    arguments.keys_of_part = kernels::cuda::KeysOfPart(arguments.rows.keys);
    const int64_t parts = kernels::cuda::PartsOf(arguments);
    const int64_t of_parts = parts * shape.query_rows * shape.heads;
    // Memory for the sums of weighted values, followed by the PartShare of every part.
    const at::Tensor scratch = at::empty({of_parts * (shape.head_dim + 2)},
                                         at::TensorOptions().dtype(at::kFloat).device(device()));
    arguments.sums = scratch.data_ptr<float>();
    arguments.shares =
        reinterpret_cast<kernels::cuda::PartShare*>(arguments.sums + of_parts * shape.head_dim);
    kernels::cuda::RowAttention(arguments);
    kernels::cuda::MergeRowParts<T>({arguments.sums, arguments.shares,
                                     static_cast<T*>(out.data_ptr()), out.stride(0), parts,
                                     shape.query_rows, shape.heads, arguments.rows.head_dim});
  });
}

at::Tensor CudaOps::AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                                     const at::Tensor& k, const KeyUpdate& update,
                                     const RotaryTables& tables) const {
  if (!RowsFit(shape, tables, q, k)) {
    return AtenOps::AttentionWeights(shape, q, k, update, tables);
  }
  const c10::DeviceGuard guard(device());
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(device());
  at::Tensor weights = at::empty({shape.query_rows, shape.heads, shape.key_rows}, floats);
  kernels::cuda::RowSoftmaxArguments softmax;
  softmax.weights = weights.data_ptr<float>();
  softmax.query_rows = shape.query_rows;
  softmax.first_query = shape.first_query;
  softmax.first_key = FirstSeenKey(shape, tables.edits, shape.first_query);
  softmax.key_rows = shape.key_rows;
  softmax.heads = shape.heads;
  softmax.window = shape.window;
  softmax.softcap = shape.softcap;
  WithTypeOf(k, [&]<class T>(T) {
    std::vector<DeviceTable> kept;
    auto products = RowArguments<T>(shape, q, k, update, tables, softmax.first_key, &kept);
    const at::Tensor logits = at::empty({shape.heads * shape.query_rows * products.keys}, floats);
    products.logits = logits.data_ptr<float>();
    kernels::cuda::RowLogits(products);
    softmax.logits = products.logits;
    softmax.keys = products.keys;
    softmax.tables = products.tables;
    kernels::cuda::RowSoftmax(softmax);
  });
  return weights;
}

std::vector<int64_t> CudaOps::CountAttendedKeys(
    const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const {
  const at::Tensor rows = weights.select(0, 0).contiguous();
  const c10::DeviceGuard guard(device());
  const at::Tensor counts = at::empty({rows.size(0)}, rows.options().dtype(at::kInt));
  kernels::cuda::CountKeysArguments arguments;
  arguments.weights = rows.const_data_ptr<float>();
  arguments.counts = counts.data_ptr<int32_t>();
  arguments.heads = rows.size(0);
  arguments.keys = rows.size(1);
  arguments.threshold = threshold.Weight(rows.size(1));
  arguments.rule = threshold.rule;
  kernels::cuda::CountKeys(arguments);
  const at::Tensor on_host = counts.cpu();
  const auto* data = on_host.const_data_ptr<int32_t>();
  return {data, data + on_host.numel()};
}

void CudaOps::WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                             const at::Tensor& v, const at::Tensor& out) const {
  if (!RowsAreAligned(v) || shape.head_dim % kernels::cuda::kChunk != 0 || weights.stride(2) != 1 ||
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
    arguments.v = DataOf<T>(v) + first_key * v.stride(0);
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
  WithTypeOf(out, [&]<class T>(T) {
    kernels::cuda::AddPartsArguments<T> arguments;
    arguments.sums = sums.const_data_ptr<float>();
    arguments.out = static_cast<T*>(out.data_ptr());
    arguments.out_stride = out.stride(0);
    arguments.parts = sums.size(0);
    arguments.rows = sums.size(1);
    arguments.width = sums.size(2);
    kernels::cuda::AddParts(arguments);
  });
}

}  // namespace midscope

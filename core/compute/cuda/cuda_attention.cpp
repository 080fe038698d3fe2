// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/compute/cuda/cuda_library_attention.h"
#include "core/compute/cuda/cuda_ops.h"
#include "core/compute/rotary_cache.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rotary.h"

namespace midscope {
namespace {

// Returns the bytes of `values` in the device's memory. To a GPU they are copied from pinned
// memory, because other copies wait for the GPU.
template <class T>
at::Tensor CopiedTo(at::Device device, std::span<const T> values) {
  const at::Tensor host =
      at::empty({static_cast<int64_t>(values.size_bytes())},
                at::TensorOptions().dtype(at::kByte).pinned_memory(device.is_cuda()));
  std::copy(values.begin(), values.end(), static_cast<T*>(host.data_ptr()));
  return host.to(device, /*non_blocking=*/true);
}

// The arguments of the kernel that computes rotary tables on a device. Internal to core.

struct AngleTable {
  at::Tensor cos;  // [rows, pairs] float32 on the device, the output
  at::Tensor sin;
  // The following tensors keep the arguments' memory alive until the kernel is launched.
  at::Tensor inverse_frequency;
  at::Tensor ids;
  kernels::cuda::AnglesArguments arguments;
};

// Returns the arguments for a table on this device. The table must have angles.
inline AngleTable AngleTableOn(at::Device device, const RotaryCache::Table& table) {
  const RotaryAngles& angles = *table.angles();
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(device);
  AngleTable result;
  result.cos = at::empty({table.rows(), table.pairs()}, floats);
  result.sin = at::empty_like(result.cos);
  result.inverse_frequency = CopiedTo<double>(device, angles.inverse_frequency);
  if (angles.positions.ids.given()) {
    std::vector<double> ids;
    ids.reserve(static_cast<size_t>(table.rows()));
    for (int64_t row = 0; row < table.rows(); ++row) ids.push_back(angles.positions.ids.At(row));
    result.ids = CopiedTo<double>(device, ids);
  }
  const auto doubles = [](const at::Tensor& bytes) {
    return bytes.defined() ? static_cast<const double*>(bytes.const_data_ptr()) : nullptr;
  };
  result.arguments = {doubles(result.inverse_frequency),
                      doubles(result.ids),
                      angles.positions.group,
                      angles.positions.offset,
                      angles.ratio,
                      angles.magnitude,
                      table.rows(),
                      table.pairs(),
                      result.cos.data_ptr<float>(),
                      result.sin.data_ptr<float>()};
  return result;
}

using Head = kernels::cuda::AttentionHead;

// Up to this number of rows, arithmetic is float32, as on the CPU (kernels/attention.h).
constexpr int64_t kFewRows = 4;
// From this number of rows on, cuDNN is so much faster that its preparation for each new length
// does not matter.
constexpr int64_t kCudnnRows = 4096;
constexpr int64_t kCudnnHeadDim = 128;
// The largest head_dim that LibTorch's flash attention supports.
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

// Whether LibTorch's attention supports this, with near and far keys processed separately.
bool IsPlain(const kernels::AttentionShape& shape, const RotaryTables& tables) {
  return shape.softcap == 0 && shape.head_dim <= kFlashHeadDim && tables.alibi_slopes.empty() &&
         tables.edits.temperature.empty() && tables.edits.hidden.empty() &&
         tables.edits.factors.empty() && tables.sinks.empty() && AllEqual(tables.scale);
}

// Whether any row sees a far key.
bool SeesFar(const kernels::AttentionShape& shape, const RotaryTables& tables) {
  return tables.near > 0 && tables.near < shape.first_query + shape.query_rows &&
         (shape.window == 0 || shape.window > tables.near);
}

// Returns every `step`-th head of x [rows, heads * head_dim] from `first` on, as a view: [1, rows,
// heads / step, head_dim].
at::Tensor EveryHead(const at::Tensor& x, int64_t head_dim, int64_t first, int64_t step) {
  const int64_t begin = first * head_dim;
  return x.narrow(1, begin, x.size(1) - begin)
      .as_strided({1, x.size(0), x.size(1) / head_dim / step, head_dim},
                  {x.size(0) * x.stride(0), x.stride(0), step * head_dim, 1});
}

// The query heads that are processed together: one head of every group, or all heads if the heads
// of each group use the same rotary table.
struct GroupTurn {
  int64_t member;  // 0 <= member < turns
  int64_t turns;
  int64_t group;  // number of heads that share a key
};

// Fills out [rows, heads * head_dim] with attention(turn) [1, rows, heads / turns, head_dim], one
// turn after the other, so that only one rotated copy of the keys exists at a time.
template <class AttentionOf>
void EachTurn(const kernels::AttentionShape& shape, const RotaryTables& tables,
              const at::Tensor& out, const AttentionOf& attention) {
  const int64_t group = shape.heads / shape.key_value_heads;
  const bool shared = GroupsShareTables(tables.k, group) && GroupsShareTables(tables.far_k, group);
  const int64_t turns = shared ? 1 : group;
  for (int64_t member = 0; member < turns; ++member) {
    EveryHead(out, shape.head_dim, member, turns).copy_(attention(GroupTurn{member, turns, group}));
  }
}

// Computes attention without the sums, by cuDNN if it is faster than flash attention.
at::Tensor ByFastest(const kernels::AttentionShape& shape, const at::Tensor& queries,
                     const at::Tensor& keys, const at::Tensor& values, double scale) {
  // cuDNN's causal mask is aligned to the first key.
  if (shape.first_query > 0 || shape.window > 0 || queries.size(1) < kCudnnRows ||
      shape.head_dim > kCudnnHeadDim) {
    return FlashAttention(queries, keys, values, shape.window, scale).z;
  }
  return CudnnAttention(queries, keys, values, scale);
}

// Merges attention over far keys into `near`; row 0 of `far` belongs to row `first` of `near`.
template <class T>
void Merge(const FlashResult& near, const FlashResult& far, int64_t first) {
  const at::Tensor z = near.z.select(0, 0).narrow(0, first, far.z.size(1));
  const at::Tensor sums = near.sums.select(0, 0).narrow(1, first, far.z.size(1));
  kernels::cuda::MergePartsArguments<T> arguments;
  arguments.near = static_cast<T*>(z.data_ptr());
  arguments.far = DataOf<T>(far.z);
  arguments.near_sums = sums.const_data_ptr<float>();
  arguments.far_sums = far.sums.const_data_ptr<float>();
  arguments.near_stride = z.stride(0);
  arguments.far_stride = far.z.stride(1);
  arguments.near_sums_stride = sums.stride(0);
  arguments.far_sums_stride = far.sums.stride(1);
  arguments.rows = z.size(0);
  arguments.heads = z.size(1);
  arguments.head_dim = static_cast<int>(z.size(2));
  kernels::cuda::MergeParts(arguments);
}

}  // namespace

bool TablesFit(const kernels::AttentionShape& shape, const RotaryTables& tables) {
  return shape.head_dim % kernels::cuda::kChunk == 0 && PairsFit(tables.q) && PairsFit(tables.k) &&
         PairsFit(tables.far_q) && PairsFit(tables.far_k);
}

// Tables of moved tokens have no angles, so that their numbers are copied from the host.
AtenOps::DeviceTable CudaOps::MakeTable(
    const std::shared_ptr<const RotaryCache::Table>& host) const {
  CheckNotRecorded();
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

// Returns x [rows, heads * head_dim] rotated by table rows from `first` on, each head by its table;
// the same shape, contiguous.
template <class T>
at::Tensor CudaOps::RotatedHeads(const at::Tensor& x, int64_t first, int64_t head_dim,
                                 const TablesOnGpu& tables) const {
  at::Tensor out = at::empty({x.size(0), x.size(1)}, x.options());
  kernels::cuda::RotateArguments<T> arguments;
  arguments.x = DataOf<T>(x);
  arguments.out = static_cast<T*>(out.data_ptr());
  arguments.x_stride = x.stride(0);
  arguments.out_stride = out.stride(0);
  arguments.rows = x.size(0);
  arguments.heads = x.size(1) / head_dim;
  arguments.head_dim = static_cast<int>(head_dim);
  arguments.first = first;
  arguments.tables = &(tables.heads[tables.first].*tables.table);
  arguments.table_stride = tables.step * static_cast<int64_t>(sizeof(kernels::cuda::AttentionHead));
  kernels::cuda::Rotate(arguments);
  return out;
}

// Computes the attention of `pass` with Midscope's own kernel.
template <class T>
FlashResult CudaOps::ByKernel(const kernels::AttentionShape& shape,
                              const AttentionPass& pass) const {
  const at::Tensor& q = pass.queries;
  FlashResult result{at::empty_like(q), {}};
  if (pass.with_sums)
    result.sums = at::empty({1, q.size(2), q.size(1)}, q.options().dtype(at::kFloat));
  kernels::cuda::AttentionArguments<T> arguments;
  arguments.q = DataOf<T>(q);
  arguments.k = DataOf<T>(pass.keys);
  arguments.v = DataOf<T>(pass.values);
  arguments.out = static_cast<T*>(result.z.data_ptr());
  if (result.sums.defined()) arguments.sums = result.sums.data_ptr<float>();
  arguments.q_stride = q.stride(1);
  arguments.k_stride = pass.keys.stride(1);
  arguments.v_stride = pass.values.stride(1);
  arguments.out_stride = result.z.stride(1);
  arguments.query_rows = q.size(1);
  arguments.first_query = pass.keys.size(1) - q.size(1);
  arguments.heads = q.size(2);
  arguments.group = q.size(2) / pass.keys.size(2);
  arguments.window = pass.window < pass.keys.size(1) ? pass.window : 0;
  arguments.behind = pass.behind;
  arguments.softcap = shape.softcap;
  arguments.tables = pass.heads;
  arguments.table_step = pass.head_step;
  kernels::cuda::Attention(arguments, shape.head_dim);
  return result;
}

template <class T>
FlashResult CudaOps::Attend(const kernels::AttentionShape& shape, const RotaryTables& tables,
                            const AttentionPass& pass) const {
  if (!IsPlain(shape, tables)) return ByKernel<T>(shape, pass);
  const double scale = tables.scale.front();
  if (!pass.with_sums) return {ByFastest(shape, pass.queries, pass.keys, pass.values, scale), {}};
  return FlashAttention(pass.queries, pass.keys, pass.values, pass.window, scale);
}

// Near and far keys have separate positions: computes attention over each part and merges the
// results. Far keys are at least `near` rows before the row, which is again a causal mask.
template <class T>
void CudaOps::AttendRotated(const kernels::AttentionShape& shape, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                            const at::Tensor& out) const {
  // Number of near keys per row; 0 if no row sees a far key.
  const int64_t near_keys = SeesFar(shape, tables) ? tables.near : 0;
  const int64_t dim = shape.head_dim;
  const int64_t last = shape.first_query + shape.query_rows;
  const int64_t first_far = std::max(shape.first_query, near_keys);  // earlier rows see no far key
  const int64_t skipped = first_far - shape.first_query;
  std::vector<DeviceTable> kept;
  const Head* heads = HeadsOnGpu(shape, tables, &kept);
  const at::Tensor near_q = RotatedHeads<T>(q, shape.first_query, dim, {heads, &Head::q});
  at::Tensor far_q;
  if (near_keys > 0) {
    far_q = RotatedHeads<T>(q.narrow(0, skipped, last - first_far), first_far, dim,
                            {heads, &Head::far_q});
  }
  const at::Tensor values = EveryHead(v, dim, 0, 1);
  EachTurn(shape, tables, out, [&](const GroupTurn& turn) {
    const auto part = [&](const at::Tensor& queries, int64_t keys, int64_t window,
                          kernels::cuda::Table Head::*table) {
      const at::Tensor rotated =
          RotatedHeads<T>(k.narrow(0, 0, keys), 0, dim, {heads, table, turn.member, turn.group});
      return Attend<T>(shape, tables,
                       {EveryHead(queries, dim, turn.member, turn.turns).contiguous(),
                        EveryHead(rotated, dim, 0, 1), values.narrow(1, 0, keys), window,
                        last - keys, near_keys > 0, heads + turn.member, turn.turns});
    };
    if (near_keys == 0) return part(near_q, last, shape.window, &Head::k).z;
    const int64_t window = shape.window > 0 ? std::min(shape.window, near_keys) : near_keys;
    const int64_t far_window = shape.window > 0 ? shape.window - near_keys : 0;
    const FlashResult near = part(near_q, last, window, &Head::k);
    Merge<T>(near, part(far_q, last - near_keys, far_window, &Head::far_k), skipped);
    return near.z;
  });
}

std::vector<kernels::cuda::AttentionHead> CudaOps::Heads(const kernels::AttentionShape& shape,
                                                         const RotaryTables& tables,
                                                         std::vector<DeviceTable>* kept) const {
  std::vector<kernels::cuda::AttentionHead> heads(static_cast<size_t>(shape.heads));
  for (size_t head = 0; head < heads.size(); ++head) {
    kernels::cuda::AttentionHead& of = heads[head];
    // Checks the previous head's table first, because most heads have the same one.
    const auto set = [&](kernels::cuda::Table kernels::cuda::AttentionHead::*table,
                         const std::vector<kernels::RotaryView>& views) {
      const bool as_before = head > 0 && !views.empty() && views[head].cos == views[head - 1].cos;
      of.*table = as_before ? heads[head - 1].*table : OnGpu(tables, views, head, kept);
    };
    set(&kernels::cuda::AttentionHead::q, tables.q);
    set(&kernels::cuda::AttentionHead::k, tables.k);
    set(&kernels::cuda::AttentionHead::far_q, tables.far_q);
    set(&kernels::cuda::AttentionHead::far_k, tables.far_k);
    of.scale = tables.scale[head];
    of.slope = tables.alibi_slopes.empty() ? 0.0f : tables.alibi_slopes[head];
    of.inverse_temperature = 1 / tables.Positions().Temperature(static_cast<int64_t>(head));
  }
  AddEdits(tables, &heads);
  return heads;
}

template <class T>
const T* CudaOps::OnGpu(const std::vector<T>& values, KeptCopies<T>* kept) const {
  const at::Tensor copy = kept->Of(values, [this](const std::vector<T>& all) {
    CheckNotRecorded();
    return CopiedTo<T>(device(), all);
  });
  KeepRecorded(copy);
  return static_cast<const T*>(copy.const_data_ptr());
}

// Reuses copies on the GPU until the tables change: layers of one kind share their tables.
const kernels::cuda::AttentionHead* CudaOps::HeadsOnGpu(const kernels::AttentionShape& shape,
                                                        const RotaryTables& tables,
                                                        std::vector<DeviceTable>* kept) const {
  return OnGpu(Heads(shape, tables, kept), &kept_heads_);
}

// Stores the edits of all heads consecutively; usually an earlier layer's copy is reused.
void CudaOps::AddEdits(const RotaryTables& tables, std::vector<Head>* heads) const {
  std::vector<kernels::cuda::KeyEdit> edits;
  for (size_t head = 0; head < heads->size(); ++head) {
    if (!tables.sinks.empty()) (*heads)[head].sink = tables.sinks[head];
    const std::vector<kernels::cuda::KeyEdit> of_head = kernels::cuda::EditsOfHead(
        tables.edits.hidden, tables.edits.factors, static_cast<int64_t>(head));
    (*heads)[head].edits.count = static_cast<int>(of_head.size());
    edits.insert(edits.end(), of_head.begin(), of_head.end());
  }
  if (edits.empty()) return;
  const kernels::cuda::KeyEdit* next = OnGpu(edits, &kept_edits_);
  for (Head& head : *heads) {
    head.edits.data = next;
    next += head.edits.count;
  }
}

bool CudaOps::Attention(const kernels::AttentionShape& shape, const at::Tensor& q,
                        const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                        const at::Tensor& out, kernels::CancelFlag cancel) const {
  if (kernels::Cancelled(cancel)) return false;
  if (shape.query_rows <= kFewRows) {
    WeightedValues(shape, AttentionWeights(shape, q, k, {}, tables), v, out);
    return true;
  }
  const bool fits = out.scalar_type() != at::kFloat && RowsAreAligned(q) && RowsAreAligned(k) &&
                    RowsAreAligned(v) && RowsAreAligned(out) && TablesFit(shape, tables) &&
                    tables.query_weight.empty();
  if (!fits || !(IsPlain(shape, tables) || kernels::cuda::HasAttention(shape.head_dim))) {
    return AtenOps::Attention(shape, q, k, v, tables, out, cancel);
  }
  const c10::DeviceGuard guard(device());
  const int64_t keys = shape.first_query + shape.query_rows;
  WithNarrowTypeOf(out, [&]<class T>(T) {
    AttendRotated<T>(shape, q.narrow(0, 0, shape.query_rows), k.narrow(0, 0, keys),
                     v.narrow(0, 0, keys), tables, out.narrow(0, 0, shape.query_rows));
  });
  return true;
}

}  // namespace midscope

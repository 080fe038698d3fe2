// SPDX-License-Identifier: MIT
// The attention operations of AtenOps.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/check.h"

#include "core/compute/aten_ops.h"

namespace midscope {
namespace {

// Returns [rows, heads, head_dim] of x [rows, heads * head_dim].
at::Tensor ByHead(const at::Tensor& x, int64_t head_dim) {
  return x.view({x.size(0), x.size(1) / head_dim, head_dim});
}

// Returns float32 [heads, rows, head_dim] of some heads of x [>= rows, all heads * head_dim].
at::Tensor HeadsFirst(const at::Tensor& x, int64_t rows, int64_t head_dim, int64_t first_head,
                      int64_t heads) {
  return ByHead(x.narrow(0, 0, rows), head_dim)
      .narrow(1, first_head, heads)
      .transpose(0, 1)
      .to(at::kFloat)
      .contiguous();
}

// Returns [rows, keys]: true if the key is hidden from the row.
at::Tensor Hidden(const at::Tensor& rows, const at::Tensor& keys, int64_t window) {
  at::Tensor hidden = keys.unsqueeze(0) > rows.unsqueeze(1);
  if (window > 0) hidden.bitwise_or_(keys.unsqueeze(0) <= rows.unsqueeze(1) - window);
  return hidden;
}

at::Tensor Range(int64_t first, int64_t last, at::Device device) {
  return at::arange(first, last, at::TensorOptions().dtype(at::kLong).device(device));
}

// Returns the softmax over keys first_key, first_key + 1, ..., with the hidden keys and weight
// factors of `edits`. logits [heads from first_head on, rows, keys] are overwritten. sinks: [heads,
// 1, 1], or undefined.
at::Tensor EditedSoftmax(const at::Tensor& logits, const at::Tensor& sinks, const RowEdits& edits,
                         int64_t first_head, int64_t first_key) {
  const int64_t last_key = first_key + logits.size(2);
  // Calls `change` for the heads to which an edit applies.
  const auto change_part = [&](const at::Tensor& of, const auto& range, const auto& change) {
    const int64_t from = std::clamp(range.begin, first_key, last_key);
    const at::Tensor keys =
        of.narrow(2, from - first_key, std::clamp(range.end, from, last_key) - from);
    if (range.heads.empty()) return change(keys);
    for (int64_t head = 0; head < of.size(0); ++head) {
      if (kernels::HoldsFor(range, first_head + head)) change(keys.narrow(0, head, 1));
    }
  };
  for (const kernels::KeyFactor& factor : edits.factors) {
    if (!factor.renormalised) continue;
    change_part(logits, factor,
                [&](const at::Tensor& part) { part.add_(std::log(factor.factor)); });
  }
  for (const kernels::KeyRange& hidden : edits.hidden) {
    change_part(logits, hidden, [](const at::Tensor& part) {
      part.fill_(-std::numeric_limits<float>::infinity());
    });
  }
  at::Tensor weights;
  if (sinks.defined()) {
    const at::Tensor all = at::cat({logits, sinks.expand({-1, logits.size(1), 1})}, 2);
    weights = at::softmax(all, -1).narrow(2, 0, logits.size(2));
  } else {
    weights = at::softmax(logits, -1);
  }
  for (const kernels::KeyFactor& factor : edits.factors) {
    if (factor.renormalised) continue;
    change_part(weights, factor, [&](const at::Tensor& part) { part.mul_(factor.factor); });
  }
  return weights;
}

// Returns weights [heads, rows, keys] times values [key_value_heads, keys, head_dim]: [heads, rows,
// head_dim].
at::Tensor Mixed(const at::Tensor& weights, const at::Tensor& values) {
  const int64_t heads = weights.size(0);
  const int64_t rows = weights.size(1);
  const int64_t groups = values.size(0);
  return at::bmm(weights.reshape({groups, heads / groups * rows, weights.size(2)}), values)
      .view({heads, rows, values.size(2)});
}

}  // namespace

int64_t FirstSeenKey(const kernels::AttentionShape& shape, const RowEdits& edits, int64_t row) {
  int64_t first = kernels::FirstVisibleKey(shape, row);
  for (const kernels::KeyRange& hidden : edits.hidden) {
    if (hidden.heads.empty() && hidden.begin <= first) first = std::max(first, hidden.end);
  }
  return first;
}

bool GroupsShareTables(std::span<const kernels::RotaryView> tables, int64_t group) {
  for (size_t head = 0; head < tables.size(); ++head) {
    const size_t first = head / static_cast<size_t>(group) * static_cast<size_t>(group);
    if (tables[head].cos != tables[first].cos) return false;
  }
  return true;
}

// A range of query heads that consists of whole groups, with their rotated keys.
struct AtenOps::HeadRange {
  int64_t first_head = 0;
  int64_t heads = 0;
  at::Tensor keys;  // [key-value heads, or heads if those of a group differ, key_rows, head_dim]
  at::Tensor far_keys;  // rotated as far keys; undefined if no row has far keys
};

AtenOps::DeviceTable AtenOps::TableOf(const RotaryTables& tables,
                                      const kernels::RotaryView& view) const {
  const auto found = tables_.find(view.cos);
  if (found != tables_.end()) {
    KeepRecorded(found->second.cos);
    KeepRecorded(found->second.sin);
    return found->second;
  }
  const auto owner = std::find_if(tables.owned.begin(), tables.owned.end(),
                                  [&](const auto& table) { return table->cos() == view.cos; });
  MIDSCOPE_CHECK(owner != tables.owned.end(), "a rotary table without an owner");
  const int64_t bytes = (*owner)->bytes();
  if (table_bytes_ + bytes > limits_.table_bytes) {
    tables_.clear();
    table_bytes_ = 0;
  }
  table_bytes_ += bytes;
  return tables_[view.cos] = MakeTable(*owner);
}

AtenOps::DeviceTable AtenOps::MakeTable(
    const std::shared_ptr<const RotaryCache::Table>& host) const {
  const int64_t shape[] = {host->rows(), host->pairs()};
  return {host, Upload(host->cos(), shape), Upload(host->sin(), shape)};
}

// Rotates x [rows, heads, head_dim] by table rows from first_row on, each head by its own table.
// Returns float32 [heads, rows, head_dim].
at::Tensor AtenOps::Rotated(const at::Tensor& x, const RotaryTables& tables,
                            std::span<const kernels::RotaryView> views, int64_t first_row) const {
  const int64_t rows = x.size(0);
  at::Tensor out = at::empty({x.size(1), rows, x.size(2)}, x.options().dtype(at::kFloat));
  out.copy_(x.transpose(0, 1));
  for (size_t begin = 0, end = 0; begin < views.size(); begin = end) {
    // Adjacent heads with the same table are rotated in one operation.
    while (end < views.size() && views[end].cos == views[begin].cos) ++end;
    if (!views[begin].cos) continue;
    const DeviceTable table = TableOf(tables, views[begin]);
    const at::Tensor cos = table.cos.narrow(0, first_row, rows);
    const at::Tensor sin = table.sin.narrow(0, first_row, rows);
    const int64_t pairs = views[begin].pairs;
    const at::Tensor heads =
        out.narrow(0, static_cast<int64_t>(begin), static_cast<int64_t>(end - begin));
    const at::Tensor first = heads.narrow(2, 0, pairs);
    const at::Tensor second = heads.narrow(2, pairs, pairs);
    const at::Tensor turned = (first * cos).sub_(second * sin);
    second.mul_(cos).add_(first * sin);
    first.copy_(turned);
  }
  return out;
}

AtenOps::HeadRange AtenOps::MakeRange(const kernels::AttentionShape& shape, const at::Tensor& k,
                                      const RotaryTables& tables, int64_t first_head,
                                      int64_t heads) const {
  const int64_t group = shape.heads / shape.key_value_heads;
  const bool shared = GroupsShareTables(tables.k, group);
  const auto views_of = [&](const std::vector<kernels::RotaryView>& all) {
    std::vector<kernels::RotaryView> views;
    for (int64_t head = first_head; head < first_head + heads; head += shared ? group : 1)
      views.push_back(all[static_cast<size_t>(head)]);
    return views;
  };
  at::Tensor x = ByHead(k.narrow(0, 0, shape.key_rows), shape.head_dim)
                     .narrow(1, first_head / group, heads / group);
  if (!shared) x = x.repeat_interleave(group, 1);
  HeadRange range{first_head, heads, Rotated(x, tables, views_of(tables.k), 0), {}};
  if (tables.near > 0) range.far_keys = Rotated(x, tables, views_of(tables.far_k), 0);
  return range;
}

// Returns the products of scaled queries and keys: [heads of the range, rows, keys]. Arguments as
// for Weights: query rows from first_row on, keys [first_key, last_key).
at::Tensor AtenOps::Products(const kernels::AttentionShape& shape, const HeadRange& range,
                             const at::Tensor& q, const RotaryTables& tables, int64_t first_row,
                             int64_t rows, int64_t first_key, int64_t last_key) const {
  const auto first = static_cast<size_t>(range.first_head);
  const auto count = static_cast<size_t>(range.heads);
  const at::Tensor heads = ByHead(q, shape.head_dim).narrow(1, range.first_head, range.heads);
  const float scale = tables.scale.front();
  const bool one_scale = std::all_of(tables.scale.begin(), tables.scale.end(),
                                     [scale](float other) { return other == scale; });
  const auto products = [&](const std::vector<kernels::RotaryView>& views, const at::Tensor& of,
                            int64_t from, int64_t to) {
    at::Tensor queries = Rotated(heads, tables, std::span(views).subspan(first, count), first_row);
    if (!tables.query_weight.empty()) {
      queries.mul_(FewOnDevice(tables.query_weight));
    }
    one_scale ? queries.mul_(scale)
              : queries.mul_(OfHeads(tables.scale, range.first_head, range.heads));
    const at::Tensor keys = of.narrow(1, from, to - from).transpose(1, 2);
    const int64_t key_heads = keys.size(0);
    return at::bmm(queries.view({key_heads, range.heads / key_heads * rows, shape.head_dim}), keys)
        .view({range.heads, rows, to - from});
  };
  if (tables.near == 0) return products(tables.q, range.keys, first_key, last_key);
  // Keys before near_begin are far from every row; keys from far_end on are near to every row.
  const int64_t near_begin = std::clamp(first_row - tables.near + 1, first_key, last_key);
  const int64_t far_end = std::clamp(first_row + rows - tables.near, first_key, last_key);
  at::Tensor near = products(tables.q, range.keys, near_begin, last_key);
  if (far_end == first_key) return near;
  const at::Tensor far = products(tables.far_q, range.far_keys, first_key, far_end);
  const int64_t both = far_end - near_begin;
  const at::Tensor is_far = Range(near_begin, far_end, device_).unsqueeze(0) <=
                            Range(first_row, first_row + rows, device_).unsqueeze(1) - tables.near;
  return at::cat(
      {far.narrow(2, 0, near_begin - first_key),
       at::where(is_far, far.narrow(2, near_begin - first_key, both), near.narrow(2, 0, both)),
       near.narrow(2, both, last_key - far_end)},
      2);
}

// Returns the entries of `values` [head] for some heads: [heads, 1, 1].
at::Tensor AtenOps::OfHeads(const std::vector<float>& values, int64_t first_head,
                            int64_t heads) const {
  return FewOnDevice(values).narrow(0, first_head, heads).view({heads, 1, 1});
}

at::Tensor AtenOps::Softmaxed(const kernels::AttentionShape& shape, const RotaryTables& tables,
                              const at::Tensor& products, int64_t first_head, int64_t first_row,
                              int64_t first_key) const {
  const at::Tensor& logits = products;
  const int64_t heads = logits.size(0);
  const int64_t rows = logits.size(1);
  if (shape.softcap > 0) logits.div_(shape.softcap).tanh_().mul_(shape.softcap);
  at::Tensor row_ids;
  at::Tensor key_ids;
  if (rows > 1 || !tables.alibi_slopes.empty()) {
    row_ids = Range(first_row, first_row + rows, device_);
    key_ids = Range(first_key, first_key + logits.size(2), device_);
  }
  if (!tables.alibi_slopes.empty()) {
    const at::Tensor distance = (key_ids.unsqueeze(0) - row_ids.unsqueeze(1)).to(at::kFloat);
    logits.add_(OfHeads(tables.alibi_slopes, first_head, heads) * distance);
  }
  if (!tables.edits.temperature.empty())
    logits.div_(OfHeads(tables.edits.temperature, first_head, heads));
  if (rows > 1) {
    logits.masked_fill_(Hidden(row_ids, key_ids, shape.window),
                        -std::numeric_limits<float>::infinity());
  }
  at::Tensor sinks;
  if (!tables.sinks.empty()) {
    sinks = OfHeads(tables.sinks, first_head, heads);
    if (!tables.edits.temperature.empty())
      sinks = sinks / OfHeads(tables.edits.temperature, first_head, heads);
  }
  return EditedSoftmax(logits, sinks, tables.edits, first_head, first_key);
}

// Returns the attention weights of rows [first_row, first_row + rows) (absolute) over keys
// [first_key, last_key), outside of which these rows see no keys: [heads of the range, rows, keys].
// q contains these rows of all heads.
at::Tensor AtenOps::Weights(const kernels::AttentionShape& shape, const HeadRange& range,
                            const at::Tensor& q, const RotaryTables& tables, int64_t first_row,
                            int64_t rows, int64_t first_key, int64_t last_key) const {
  return Softmaxed(shape, tables,
                   Products(shape, range, q, tables, first_row, rows, first_key, last_key),
                   range.first_head, first_row, first_key);
}

bool AtenOps::Attention(const kernels::AttentionShape& shape, const at::Tensor& q,
                        const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                        const at::Tensor& out, kernels::CancelFlag cancel) const {
  const int64_t group = shape.heads / shape.key_value_heads;
  const int64_t of_keys = GroupsShareTables(tables.k, group) ? 1 : group;
  const int64_t copies = (tables.near > 0 ? 2 : 1) * of_keys + 1;
  const int64_t groups_at_once =
      std::clamp(limits_.key_floats / (copies * shape.key_rows * shape.head_dim), int64_t{1},
                 shape.key_value_heads);
  for (int64_t first = 0; first < shape.key_value_heads; first += groups_at_once) {
    const int64_t groups = std::min(groups_at_once, shape.key_value_heads - first);
    const HeadRange range = MakeRange(shape, k, tables, first * group, groups * group);
    const at::Tensor values = HeadsFirst(v, shape.key_rows, shape.head_dim, first, groups);
    const int64_t block = std::clamp(limits_.logit_floats / (range.heads * shape.key_rows),
                                     int64_t{1}, limits_.query_rows);
    for (int64_t row = 0; row < shape.query_rows; row += block) {
      if (kernels::Cancelled(cancel)) return false;
      const int64_t rows = std::min(block, shape.query_rows - row);
      const int64_t position = shape.first_query + row;
      const int64_t first_key = FirstSeenKey(shape, tables.edits, position);
      const at::Tensor weights = Weights(shape, range, q.narrow(0, row, rows), tables, position,
                                         rows, first_key, position + rows);
      const at::Tensor mixed =
          Mixed(weights, values.narrow(1, first_key, position + rows - first_key));
      ByHead(out.narrow(0, row, rows), shape.head_dim)
          .narrow(1, range.first_head, range.heads)
          .copy_(mixed.transpose(0, 1));
    }
  }
  return true;
}

at::Tensor AtenOps::AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                                     const at::Tensor& k, const KeyUpdate& update,
                                     const RotaryTables& tables) const {
  const int64_t first_key = FirstSeenKey(shape, tables.edits, shape.first_query);
  const int64_t last_key = shape.first_query + shape.query_rows;
  const HeadRange range = MakeRange(shape, Updated(k, update), tables, 0, shape.heads);
  at::Tensor weights = at::zeros({shape.query_rows, shape.heads, shape.key_rows},
                                 at::TensorOptions().dtype(at::kFloat).device(device_));
  weights.narrow(2, first_key, last_key - first_key)
      .copy_(Weights(shape, range, q.narrow(0, 0, shape.query_rows), tables, shape.first_query,
                     shape.query_rows, first_key, last_key)
                 .transpose(0, 1));
  return weights;
}

void AtenOps::WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                             const at::Tensor& v, const at::Tensor& out) const {
  const int64_t first_key = kernels::FirstVisibleKey(shape, shape.first_query);
  const int64_t keys = shape.first_query + shape.query_rows - first_key;
  const at::Tensor values =
      HeadsFirst(v.narrow(0, first_key, keys), keys, shape.head_dim, 0, shape.key_value_heads);
  const at::Tensor mixed = Mixed(weights.narrow(2, first_key, keys).transpose(0, 1), values);
  ByHead(out.narrow(0, 0, shape.query_rows), shape.head_dim).copy_(mixed.transpose(0, 1));
}

std::vector<int64_t> AtenOps::CountAttendedKeys(
    const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const {
  const double least = threshold.Weight(weights.size(2));
  const bool reaches = threshold.rule == kernels::ThresholdRule::kAtLeast;
  const at::Tensor counted = reaches ? weights.ge(least) : weights.gt(least);
  const at::Tensor counts = counted.select(0, 0).sum(1).cpu();
  const auto* data = counts.const_data_ptr<int64_t>();
  return {data, data + counts.numel()};
}

}  // namespace midscope

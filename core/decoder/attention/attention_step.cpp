// SPDX-License-Identifier: MIT
#include "core/decoder/attention/attention_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/compute/compressive_memory.h"
#include "core/decoder/attention/attention_tables.h"
#include "core/decoder/attention/borrowed_rows.h"
#include "core/decoder/attention/scaled_projections.h"
#include "core/decoder/residual_edits.h"
#include "core/decoder/show_rows.h"
#include "core/plan/attention_plan.h"
#include "core/plan/near_far_plan.h"
#include "core/plan/row_plans.h"
#include "kernels/attention_engine.h"

namespace midscope {
namespace {

// Number of rows whose attention weights are computed at a time for hooks, which limits the memory
// of patterns to rows x heads x keys.
constexpr int64_t kPatternRows = 8;
// Number of query or key rows that are rotated at a time for hooks.
constexpr int64_t kRotatedRows = 256;

}  // namespace

// Values that are constant during the attention of one layer and sequence.
struct AttentionStep::Inputs {
  const LayerOps& ops;
  SequencePass& sequence;
  int64_t layer;
  const LayerWeights& weights;
  const at::Tensor& normalized;
  const at::Tensor& projected;
  const at::Tensor& query_key_value;  // `projected` after the model's norm and clamp
  const at::Tensor& z;
  const AttentionPlan* plan;  // plan of the query rows that are computed
  int64_t q_width;            // heads * head_dim
  int64_t kv_width;           // key_value_heads * head_dim
  // Keys and values in the trace, of this layer or of the layer whose keys this one reads.
  at::Tensor keys;
  at::Tensor values;

  // Returns the queries of `rows` (absolute row indices) before rotation.
  at::Tensor Queries(RowRange rows) const {
    return PackedRows(query_key_value, rows).narrow(1, 0, q_width);
  }
  const at::Tensor& Keys() const { return keys; }
  const at::Tensor& Values() const { return values; }
  at::Tensor Z(RowRange rows) const { return PackedRows(z, rows); }
  at::Tensor PackedRows(const at::Tensor& packed, RowRange rows) const {
    return packed.narrow(0, Packed(rows.first), rows.last - rows.first);
  }
  int64_t Packed(int64_t row) const { return sequence.packed_begin + row - sequence.active_first; }
  const Trace::Storage& Store() const { return sequence.trace->storage(); }
  const AttentionPlan& Plan() const { return *plan; }
  // Returns the attention weights of few rows, including the factors that are applied before they
  // are multiplied by values.
  at::Tensor Weights(const kernels::AttentionShape& shape, const RotaryTables& tables,
                     const at::Tensor& q, const Seen& seen) const {
    at::Tensor counted = ops.AttentionWeights(shape, q, seen.k, seen.update, tables);
    if (!tables.share.empty()) ScaleHeads(tables.share, counted);
    return counted;
  }
};

namespace {

kernels::AttentionShape Shape(const ModelConfig& config, int64_t layer, const RotaryTables& tables,
                              RowRange rows) {
  return {rows.last - rows.first,
          rows.last,
          rows.first,
          config.heads,
          config.KeyValueHeads(layer),
          config.HeadDim(layer),
          tables.window,
          tables.softcap};
}

// Returns x [rows, heads * head_dim] with each head multiplied elementwise by the weights
// [head_dim] of a norm that follows the rotation.
at::Tensor TimesNorm(const at::Tensor& x, const std::vector<float>& weight) {
  if (weight.empty()) return x;
  const auto width = static_cast<int64_t>(weight.size());
  return x.view({x.size(0), -1, width})
      .mul(at::tensor(weight).to(x.device()))
      .view({x.size(0), x.size(1)});
}

RowRange Intersect(RowRange a, RowRange b) {
  return {std::max(a.first, b.first), std::min(a.last, b.last)};
}

}  // namespace

void AttentionStep::Run(const LayerOps& ops, SequencePass& sequence, int64_t layer,
                        const LayerWeights& weights, const at::Tensor& normalized,
                        const at::Tensor& projected, const at::Tensor& query_key_value,
                        const at::Tensor& z) {
  const int64_t q_width = config_.QueryWidth(layer);
  const int64_t kv_width = config_.KeyWidth(layer);
  AttentionPlan& plan = sequence.plans[static_cast<size_t>(layer)];
  const Trace::Storage& store = sequence.trace->storage();
  const int64_t source = config_.KeysOf(layer);
  // Avoids Tensor::to on the same device: a recorded pass treats every call as a copy.
  const auto on_device = [&ops](const at::Tensor& rows) {
    return rows.device() == ops.device() ? rows : rows.to(ops.device());
  };
  Inputs in{ops,
            sequence,
            layer,
            weights,
            normalized,
            projected,
            query_key_value,
            z,
            &plan,
            q_width,
            kv_width,
            on_device(store.Keys(source)),
            on_device(store.Values(source))};
  auto borrowed = std::make_shared<BorrowedRows>(sequence, layer);
  StoreKeysAndValues(in);
  ResolvePlan(in, plan);
  for (const RowRange rows : PartsOfOnePlan(plan, {sequence.first_needed_row, sequence.rows})) {
    const AttentionPlan of_rows = PlanOfRow(plan, rows.first);
    in.plan = &of_rows;
    AttendPart(in, rows);
  }
  ThrowIfCancelled();
  AblateHeads(sequence, layer, config_.HeadDim(layer), z);
  // Later layers may read these keys.
  if (layer >= config_.FirstLentLayer()) {
    sequence.lent.push_back(std::move(borrowed));
  } else {
    borrowed->Return();
  }
}

void AttentionStep::AttendPart(const Inputs& in, RowRange rows) {
  const AttentionPlan& plan = in.Plan();
  RotaryTables tables = tables_.Make(in.ops, plan, PositionRows(plan.edits, in.sequence.rows));
  tables.sinks = in.weights.sinks;
  tables.query_weight = in.weights.rotated_norms;
  RowRange overridden{rows.last, rows.last};
  if (plan.row_override) {
    overridden = Intersect(rows, {plan.row_override->first_row, plan.row_override->last_row});
    if (overridden.empty()) overridden = {rows.last, rows.last};
  }
  AttendClean(in, tables, {rows.first, overridden.first});
  if (!overridden.empty()) AttendOverridden(in, plan, tables, overridden);
  AttendClean(in, tables, {overridden.last, rows.last});
}

void AttentionStep::StoreKeysAndValues(const Inputs& in) {
  const int64_t first = in.sequence.active_first;
  const int64_t count = in.sequence.active_rows();
  const int64_t values_begin = in.q_width + in.kv_width;
  const auto rows_of = [&](const at::Tensor& packed, int64_t column, int64_t width) {
    return packed.narrow(0, in.sequence.packed_begin, count).narrow(1, column, width);
  };
  const bool own = !config_.SharesKeys(in.layer);
  if (own && in.sequence.stored_layer != in.layer) {
    in.ops.SplitRows(rows_of(in.query_key_value, in.q_width, 2 * in.kv_width),
                     in.Keys().narrow(0, first, count), in.Values().narrow(0, first, count));
  }
  const auto store = [&](const at::Tensor& to, const at::Tensor& packed, int64_t column) {
    to.narrow(0, first, count).copy_(rows_of(packed, column, in.kv_width));
  };
  auto& memories = in.sequence.trace->storage().memories;
  const auto memory = memories.find(in.layer);
  if (memory != memories.end() && memory->second.rows > first) memories.erase(memory);
  if (!own) return;
  if (!in.Store().projected_keys.empty())
    store(in.Store().ProjectedKeys(in.layer), in.projected, in.q_width);
  if (!in.Store().projected_values.empty())
    store(in.Store().ProjectedValues(in.layer), in.projected, values_begin);
}

// Sets the ratios that are computed from the last prompt query. They stay fixed after the prompt:
// later rows, and re-runs that do not change all rows with these ratios, read them from the trace.
void AttentionStep::ResolvePlan(const Inputs& in, AttentionPlan& plan) {
  const bool by_score = plan.ratio_rule && !RatiosAreFixed(*plan.ratio_rule);
  const auto& given = in.sequence.request->ratios;
  const int64_t changed = in.sequence.changed_row[static_cast<size_t>(in.layer)];
  const bool frozen = changed > FirstSchemeRow(plan) && !in.sequence.frozen_plans.empty();
  const bool decide = by_score && !given && !frozen;

  at::Tensor last_row;
  ShowUnrotated(in, plan, decide ? &last_row : nullptr);
  if (!plan.ratio_rule) return;
  if (given) {
    for (int64_t head = 0; head < config_.heads; ++head) {
      plan.q_ratio[static_cast<size_t>(head)] = given->At(in.layer, head);
    }
    plan.k_ratio = plan.q_ratio;
    if (plan.ratio_rule->scheme.mode == MsPoeMode::kCode)
      plan.k_ratio = FirstOfGroup(plan.q_ratio, config_.KeyValueHeads(in.layer));
  } else if (by_score && frozen) {
    const AttentionPlan& before = in.sequence.frozen_plans[static_cast<size_t>(in.layer)];
    plan.q_ratio = before.q_ratio;
    plan.k_ratio = before.k_ratio;
  } else if (decide) {
    HeadRatios ratios = RatiosOfLastRow(in, *plan.ratio_rule, last_row);
    plan.q_ratio = std::move(ratios.q);
    plan.k_ratio = std::move(ratios.k);
  }
}

HeadRatios AttentionStep::RatiosOfLastRow(const Inputs& in, const RatioRule& rule,
                                          const at::Tensor& last_row) const {
  if (rule.scheme.order == MsPoeOrder::kEntropy) {
    return ResolveRatiosOfRow(rule, last_row.cpu().data_ptr<float>(), in.sequence.prompt_tokens,
                              config_.heads, config_.KeyValueHeads(in.layer));
  }
  // Keys are counted on the device, because the weights would be a large copy from a GPU.
  return ResolveRatios(rule, in.ops.CountAttendedKeys(last_row, AwarenessRule(rule.scheme)),
                       config_.KeyValueHeads(in.layer));
}

// Computes attention weights of q and k without positions (not rotated, no ALiBi; window, segment
// and soft cap as in the layer): for the last prompt query if a ratio rule needs it (`last_row`),
// and for hooks.
void AttentionStep::ShowUnrotated(const Inputs& in, const AttentionPlan& plan,
                                  at::Tensor* last_row) {
  const SequencePass& sequence = in.sequence;
  RotaryTables plain;
  plain.q.resize(static_cast<size_t>(config_.heads));
  plain.k = plain.q;
  plain.scale.assign(static_cast<size_t>(config_.heads), static_cast<float>(plan.logit_scale));
  plain.window = plan.window;
  plain.softcap = static_cast<float>(plan.softcap);
  plain.sinks = in.weights.sinks;
  plain.query_weight = in.weights.rotated_norms;
  const RowRange active{sequence.active_first, sequence.rows};
  RowRange wanted =
      Intersect(active, sequence.hooks->Wanted(HookSite::kPatternUnrotated, in.layer));
  const RowRange last{sequence.last_query(), sequence.last_query() + 1};
  const auto weights_of = [&](RowRange row) {
    if (plan.memory) plain.edits.hidden = {{0, SegmentStart(*plan.memory, row.first)}};
    if (plan.chunk > 0) plain.edits.hidden = {{0, row.first / plan.chunk * plan.chunk}};
    return in.ops.AttentionWeights(Shape(config_, in.layer, plain, row), in.Queries(row), in.Keys(),
                                   {}, plain);
  };
  if (last_row) *last_row = weights_of(last);
  for (int64_t row = wanted.first; row < wanted.last; ++row) {
    ThrowIfCancelled();
    // Ratios are computed before hooks are called, because hooks may write to their view.
    const bool known = last_row && row == last.first;
    ShowWeights(in.ops, sequence, {HookSite::kPatternUnrotated, in.layer}, row,
                known ? last_row->clone() : weights_of({row, row + 1}));
  }
}

void AttentionStep::AttendClean(const Inputs& in, const RotaryTables& tables, RowRange rows) {
  if (rows.empty()) return;
  AttendSegments(in, tables, rows, in.Queries(rows), {in.Keys(), in.Values(), {}});
}

void AttentionStep::AttendSegments(const Inputs& in, const RotaryTables& tables, RowRange rows,
                                   const at::Tensor& unscaled, const Seen& seen) {
  const at::Tensor q = ScaledQueries(config_, in.ops, in.Plan(), rows, unscaled);
  if (!in.Plan().memory) return AttendChunks(in, tables, rows, q, seen);
  const CompressiveMemory& memory = *in.Plan().memory;
  // A memory of the trace's unscaled keys is stored for later runs. A memory of scaled keys is
  // temporary, and so is any memory if the trace is temporary or does not store this layer.
  SegmentMemory passing;
  const bool keep = seen.k.is_same(in.Keys()) && !in.sequence.scratch &&
                    in.layer >= in.sequence.trace->first_layer();
  SegmentMemory& state = keep ? in.sequence.trace->storage().memories[in.layer] : passing;
  for (const RowRange& part : SegmentParts(memory, rows)) {
    const at::Tensor queries = q.narrow(0, part.first - rows.first, part.last - part.first);
    const int64_t start = SegmentStart(memory, part.first);
    if (start == 0) {
      AttendEdited(in, tables, part, queries, seen);
      continue;
    }
    RotaryTables local = tables;
    local.edits.hidden = {{0, start}};
    local.share = LocalShares(memory);
    AttendEdited(in, local, part, queries, seen);
    AdvanceMemory(memory, TimesNorm(seen.k, in.weights.rotated_key_norm), seen.v,
                  config_.HeadDim(in.layer), start, cancel_, state);
    AddMemory(memory, state, TimesNorm(queries, in.weights.rotated_query_norm),
              config_.HeadDim(in.layer), in.Z(part));
  }
}

void AttentionStep::AttendChunks(const Inputs& in, const RotaryTables& tables, RowRange rows,
                                 const at::Tensor& q, const Seen& seen) {
  const int64_t chunk = in.Plan().chunk;
  if (chunk == 0 || rows.last <= chunk) return AttendEdited(in, tables, rows, q, seen);
  for (int64_t first = rows.first; first < rows.last;) {
    const int64_t start = first / chunk * chunk;
    const RowRange part{first, std::min(rows.last, start + chunk)};
    RotaryTables own = tables;
    own.edits.hidden = {{0, start}};
    AttendEdited(in, own, part, q.narrow(0, first - rows.first, part.last - first), seen);
    first = part.last;
  }
}

void AttentionStep::AttendEdited(const Inputs& in, const RotaryTables& tables, RowRange rows,
                                 const at::Tensor& q, const Seen& seen) {
  const AttentionEdits& edits = in.Plan().edits;
  if (edits.LeavesPatterns()) return AttendNear(in, tables, rows, q, seen);
  for (const RowRange& part : AlikeRows(edits, rows)) {
    ThrowIfCancelled();
    const RotaryTables edited = tables_.Edited(in.ops, in.Plan(), in.sequence.rows, tables,
                                               EditsOfRow(edits, part.first, config_.heads));
    AttendNear(in, edited, part, q.narrow(0, part.first - rows.first, part.last - part.first),
               seen);
  }
}

void AttentionStep::AttendNear(const Inputs& in, const RotaryTables& tables, RowRange rows,
                               const at::Tensor& q, const Seen& seen) {
  const AttentionPlan& plan = in.Plan();
  if (tables.near == 0) return AttendRows(in, tables, rows, q, seen);
  RotaryTables part_tables = tables;
  for (const auto& [part, near] : NearParts(*plan.near_far, plan.position_ids, rows)) {
    ThrowIfCancelled();
    part_tables.near = near;
    AttendRows(in, part_tables, part, q.narrow(0, part.first - rows.first, part.last - part.first),
               seen);
  }
}

void AttentionStep::AttendOverridden(const Inputs& in, const AttentionPlan& plan,
                                     const RotaryTables& tables, RowRange rows) {
  const ProjectionSource source{config_,    in.ops,        in.sequence, in.layer,
                                in.weights, in.normalized, in.projected};
  // True for few rows, if no other code reads the keys.
  const bool leaves_keys = rows.last - rows.first <= kernels::kFewQueryRows && !plan.memory &&
                           in.sequence.hooks->Wanted(HookSite::kRotatedKey, in.layer).empty();
  const ScaledProjections scaled =
      ScaleChannels(source, *plan.row_override, rows, leaves_keys, executor_, cancel_);
  if (config_.SharesKeys(in.layer))
    return AttendSegments(in, tables, rows, scaled.q, {in.Keys(), in.Values(), {}});
  AttendSegments(in, tables, rows, scaled.q, {scaled.k, scaled.v, scaled.key_update});
}

// Computes z of `rows` from their queries q; hooks can read and change the attention pattern.
void AttentionStep::AttendRows(const Inputs& in, const RotaryTables& tables, RowRange rows,
                               const at::Tensor& q, const Seen& seen) {
  ShowRotated(in, tables, rows, q, seen);
  const RowRange wanted = Intersect(rows, in.sequence.hooks->Wanted(HookSite::kPattern, in.layer));
  const kernels::AttentionShape shape = Shape(config_, in.layer, tables, rows);
  if (shape.query_rows > kernels::kFewQueryRows) {
    if (!in.ops.Attention(shape, q, seen.k, seen.v, tables, in.Z(rows), cancel_)) throw Cancelled();
    if (!tables.share.empty())
      ScaleHeads(tables.share, in.Z(rows).view({shape.query_rows, config_.heads, -1}));
    if (!wanted.empty())
      ShowPattern(in, tables, wanted,
                  q.narrow(0, wanted.first - rows.first, wanted.last - wanted.first), seen);
    return;
  }
  // Whether hooks or factors change the weights; z must then be computed from the result.
  const bool changes =
      in.sequence.hooks->Writes(HookSite::kPattern, in.layer) || !tables.share.empty();
  at::Tensor weights;
  if (!wanted.empty() || changes) weights = in.Weights(shape, tables, q, seen);
  if (!wanted.empty())
    ShowWeights(in.ops, in.sequence, {HookSite::kPattern, in.layer}, rows.first, weights);
  if (changes) return in.ops.WeightedValues(shape, weights, seen.v, in.Z(rows));
  in.ops.RowAttention(shape, q, seen.k, seen.update, seen.v, tables, weights, in.Z(rows));
}

// Passes rotated queries of `rows` to hooks and, if the last prompt query is in `rows`, the rotated
// keys as that query sees them.
void AttentionStep::ShowRotated(const Inputs& in, const RotaryTables& tables, RowRange rows,
                                const at::Tensor& q, const Seen& seen) {
  const SequencePass& sequence = in.sequence;
  const auto show = [&](HookSite site, RowRange wanted, const auto& rotated) {
    if (wanted.empty()) return;
    for (const auto& table : tables.owned) tables_.Fill(*table);
    for (int64_t first = wanted.first; first < wanted.last; first += kRotatedRows) {
      const RowRange part{first, std::min(first + kRotatedRows, wanted.last)};
      ShowRows(in.ops, sequence, {site, in.layer}, part.first, kernels::Dtype::kFloat32,
               rotated(part), config_.heads);
      ThrowIfCancelled();
    }
  };
  show(HookSite::kRotatedQuery,
       Intersect(rows, sequence.hooks->Wanted(HookSite::kRotatedQuery, in.layer)),
       [&](RowRange part) {
         const int64_t count = part.last - part.first;
         return TimesNorm(
             RotatedQueries(config_, tables, part, q.narrow(0, part.first - rows.first, count)),
             in.weights.rotated_query_norm);
       });
  const int64_t query = sequence.last_query();
  if (query < rows.first || query >= rows.last) return;
  show(HookSite::kRotatedKey, sequence.hooks->Wanted(HookSite::kRotatedKey, in.layer),
       [&](RowRange part) {
         return TimesNorm(RotatedKeys(config_, in.layer, tables, query, part,
                                      seen.k.narrow(0, part.first, part.last - part.first)),
                          in.weights.rotated_key_norm);
       });
}

// Passes attention patterns of `rows` (the rows of q) to hooks. The kernel has already computed z;
// it is computed again if a hook may have changed the pattern.
void AttentionStep::ShowPattern(const Inputs& in, const RotaryTables& tables, RowRange rows,
                                const at::Tensor& q, const Seen& seen) {
  const bool writes = in.sequence.hooks->Writes(HookSite::kPattern, in.layer);
  for (int64_t first = rows.first; first < rows.last; first += kPatternRows) {
    const RowRange part{first, std::min(first + kPatternRows, rows.last)};
    const kernels::AttentionShape shape = Shape(config_, in.layer, tables, part);
    const at::Tensor weights =
        in.Weights(shape, tables, q.narrow(0, part.first - rows.first, shape.query_rows), seen);
    ShowWeights(in.ops, in.sequence, {HookSite::kPattern, in.layer}, part.first, weights);
    if (writes) in.ops.WeightedValues(shape, weights, seen.v, in.Z(part));
    ThrowIfCancelled();
  }
}

void AttentionStep::ThrowIfCancelled() const {
  if (kernels::Cancelled(cancel_)) throw Cancelled();
}

}  // namespace midscope

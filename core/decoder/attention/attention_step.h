// SPDX-License-Identifier: MIT
// Computes attention of one layer for one sequence of the batch: position ratios, rotation, rows
// with changed inputs, and patterns that hooks read or edits change. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/compute/layer_ops.h"
#include "core/compute/rotary_cache.h"
#include "core/compute/weights.h"
#include "core/decoder/attention/attention_tables.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "kernels/attention.h"

namespace midscope {

class AttentionStep {
 public:
  AttentionStep(const ModelConfig& config, RotaryCache& rotary, const kernels::Executor& executor,
                kernels::CancelFlag cancel)
      : config_(config), tables_(rotary, executor, cancel), executor_(executor), cancel_(cancel) {}

  // Runs the layer's attention. All tensors are on the device of `ops`: normalized [packed rows,
  // hidden] (the projections' input), projected [packed rows, (heads + 2 key_value_heads) *
  // head_dim], and query_key_value, which is `projected` after FinishQueryKeyValue. z [packed rows,
  // heads * head_dim] receives the sequence's requested rows. Keys and values of the active rows
  // are first stored in the sequence's trace, unless they already are (SequencePass::stored_layer).
  // Throws Cancelled.
  void Run(const LayerOps& ops, SequencePass& sequence, int64_t layer, const LayerWeights& weights,
           const at::Tensor& normalized, const at::Tensor& projected,
           const at::Tensor& query_key_value, const at::Tensor& z);

 private:
  struct Inputs;
  // The keys (not rotated) and values that rows see: [>= rows, key_value_heads * head_dim].
  struct Seen {
    const at::Tensor& k;
    const at::Tensor& v;
    KeyUpdate update;  // a pending rank-one change of k; only for few query rows
  };
  void StoreKeysAndValues(const Inputs& in);
  void ResolvePlan(const Inputs& in, AttentionPlan& plan);
  // Returns the position ratio of every head. last_row [1, heads, keys]: attention weights of the
  // last prompt query, computed without positions.
  HeadRatios RatiosOfLastRow(const Inputs& in, const RatioRule& rule,
                             const at::Tensor& last_row) const;
  void ShowUnrotated(const Inputs& in, const AttentionPlan& plan, at::Tensor* last_row);
  // Computes z of rows to which the plan in.Plan() applies.
  void AttendPart(const Inputs& in, RowRange rows);
  void AttendClean(const Inputs& in, const RotaryTables& tables, RowRange rows);
  void AttendOverridden(const Inputs& in, const AttentionPlan& plan, const RotaryTables& tables,
                        RowRange rows);
  // Computes z of `rows` from their queries `unscaled`, to which the plan's query scale is not yet
  // applied; segment by segment if the plan has a compressive memory.
  void AttendSegments(const Inputs& in, const RotaryTables& tables, RowRange rows,
                      const at::Tensor& unscaled, const Seen& seen);
  // Calls AttendEdited for each chunk of the plan; rows do not see keys before their chunk.
  void AttendChunks(const Inputs& in, const RotaryTables& tables, RowRange rows,
                    const at::Tensor& q, const Seen& seen);
  // Calls AttendNear for each part of `rows` in which the plan's edits are equal.
  void AttendEdited(const Inputs& in, const RotaryTables& tables, RowRange rows,
                    const at::Tensor& q, const Seen& seen);
  // Calls AttendRows for each part of `rows` with the same number of near keys.
  void AttendNear(const Inputs& in, const RotaryTables& tables, RowRange rows, const at::Tensor& q,
                  const Seen& seen);
  void AttendRows(const Inputs& in, const RotaryTables& tables, RowRange rows, const at::Tensor& q,
                  const Seen& seen);
  void ShowRotated(const Inputs& in, const RotaryTables& tables, RowRange rows, const at::Tensor& q,
                   const Seen& seen);
  void ShowPattern(const Inputs& in, const RotaryTables& tables, RowRange rows, const at::Tensor& q,
                   const Seen& seen);
  void ThrowIfCancelled() const;

  const ModelConfig& config_;
  AttentionTables tables_;
  const kernels::Executor& executor_;
  kernels::CancelFlag cancel_;
};

}  // namespace midscope

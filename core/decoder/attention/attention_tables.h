// SPDX-License-Identifier: MIT
// Makes the rotary tables of a layer's heads from its plan. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/row_range.h"
#include "core/compute/layer_ops.h"
#include "core/compute/rotary_cache.h"
#include "core/model/model_config.h"
#include "core/plan/attention_edits.h"
#include "core/plan/attention_plan.h"
#include "kernels/parallel.h"

namespace midscope {

// Makes and caches the rotary tables of one pass for moved tokens, whose position differs from
// their row. Layers with equal tables share them.
class MovedTables {
 public:
  using Table = std::shared_ptr<const RotaryCache::Table>;

  // Returns the first `rows` rows of `table`, which must be filled, permuted so that row t holds
  // the angles of token t's position.
  Table Get(const Table& table, const std::vector<MovedTokens>& moved, int64_t rows);

 private:
  struct Entry {
    Table from;  // keeps its memory from being reused
    std::vector<MovedTokens> moved;
    int64_t rows;
    Table to;
  };
  std::vector<Entry> entries_;
};

// Makes the rotary tables of one forward pass. Numbers are computed if `ops` reads tables in host
// memory. Throws Cancelled.
class AttentionTables {
 public:
  AttentionTables(RotaryCache& rotary, const kernels::Executor& executor,
                  kernels::CancelFlag cancel)
      : rotary_(rotary), executor_(executor), cancel_(cancel) {}

  // Returns the tables for the first `rows` rows, with the plan's logit scale, window and soft cap.
  RotaryTables Make(const LayerOps& ops, const AttentionPlan& plan, int64_t rows);
  // Returns `tables` (from Make) with changes for rows to which `edits` apply.
  RotaryTables Edited(const LayerOps& ops, const AttentionPlan& plan, int64_t rows,
                      const RotaryTables& tables, const RowEdits& edits);
  void Fill(const RotaryCache::Table& table) const;

 private:
  RotaryCache& rotary_;
  MovedTables moved_;
  const kernels::Executor& executor_;
  kernels::CancelFlag cancel_;
};

// Returns rotated queries for hooks (attention kernels rotate on their own): [rows, heads *
// head_dim] float32 in host memory. q: queries of `rows` before rotation, of the same shape, on any
// device. Uses the tables of near keys.
at::Tensor RotatedQueries(const ModelConfig& config, const RotaryTables& tables, RowRange rows,
                          const at::Tensor& q);

// Returns rotated keys for hooks: for each query head its key as the query at row `query` sees it,
// [rows, heads * head_dim] float32 in host memory. k: keys of `rows` before rotation, [rows,
// key_value_heads * head_dim]. Keys far from the query (kernels::FarPositions) are also rotated by
// the difference of its near and far rotation, so that their product with the result of
// RotatedQueries is the logit.
at::Tensor RotatedKeys(const ModelConfig& config, int64_t layer, const RotaryTables& tables,
                       int64_t query, RowRange rows, const at::Tensor& k);

// Returns q [rows, heads * head_dim] with each row multiplied by the model's and the plan's query
// scale at its position (core/plan/attention_plan.h); q itself if all are 1.
at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q);

}  // namespace midscope

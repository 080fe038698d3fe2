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

// Makes rotary tables for tokens whose position differs from their row: those of one pass, made
// once and shared by all layers that need the same.
class MovedTables {
 public:
  using Table = std::shared_ptr<const RotaryCache::Table>;

  // Returns the first `rows` rows of `table`, which must be filled, permuted so that row t holds
  // the angles of token t's position.
  Table Get(const Table& table, const std::vector<MovedTokens>& moved, int64_t rows);

 private:
  struct Entry {
    Table from;  // keeps its address from being reused
    std::vector<MovedTokens> moved;
    int64_t rows;
    Table to;
  };
  std::vector<Entry> entries_;
};

// The tables of one forward pass. They are filled in if `ops` reads them in host memory. Throws
// Cancelled.
class AttentionTables {
 public:
  AttentionTables(RotaryCache& rotary, const kernels::Executor& executor,
                  kernels::CancelFlag cancel)
      : rotary_(rotary), executor_(executor), cancel_(cancel) {}

  // Returns tables for the positions of the first `rows` rows, with the plan's scale, window and
  // soft cap.
  RotaryTables Make(const LayerOps& ops, const AttentionPlan& plan, int64_t rows);
  // Returns `tables`, which Make has made, for rows with these edits.
  RotaryTables Edited(const LayerOps& ops, const AttentionPlan& plan, int64_t rows,
                      const RotaryTables& tables, const RowEdits& edits);
  void Fill(const RotaryCache::Table& table) const;

 private:
  RotaryCache& rotary_;
  MovedTables moved_;
  const kernels::Executor& executor_;
  kernels::CancelFlag cancel_;
};

// Queries and keys after rotation, for hooks that read them; attention kernels rotate for
// themselves. q of `rows` [rows, heads * head_dim] before rotation, on any device; [rows, heads *
// head_dim] float32 in host memory after it, by the tables of near keys.
at::Tensor RotatedQueries(const ModelConfig& config, const RotaryTables& tables, RowRange rows,
                          const at::Tensor& q);

// k of `rows` [rows, key_value_heads * head_dim] before rotation; [rows, heads * head_dim] float32
// in host memory: for each query head its key as the query at row `query` sees it. Keys that are
// far from it (kernels::FarPositions) are turned by the difference of the query's near and far
// rotation too, so that their product with its RotatedQueries is the logit.
at::Tensor RotatedKeys(const ModelConfig& config, int64_t layer, const RotaryTables& tables,
                       int64_t query, RowRange rows, const at::Tensor& k);

// Queries that grow with their position (core/plan/attention_plan.h): returns q [rows, heads *
// head_dim] of these rows, each with the model's and the plan's scale of its position; q itself
// where all are 1.
at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q);

}  // namespace midscope

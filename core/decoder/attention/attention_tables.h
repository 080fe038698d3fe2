// SPDX-License-Identifier: MIT
// Makes the rotary tables of a layer's heads from its plan. Internal to core.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/compute/layer_ops.h"
#include "core/compute/rotary_cache.h"
#include "core/plan/attention_edits.h"
#include "core/plan/attention_plan.h"
#include "kernels/parallel.h"

namespace midscope {

// Makes rotary tables for tokens whose position differs from their row. Internal to core.

// The tables of one pass, made once and shared by all layers that need the same.
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

}  // namespace midscope

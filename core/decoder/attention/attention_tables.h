// SPDX-License-Identifier: MIT
// The rotary tables of a layer's heads by its plan. Internal to core.
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

// Rotary tables for tokens whose position differs from their row. Internal to core.

// The tables of one pass, made once for all layers that share them.
class MovedTables {
 public:
  using Table = std::shared_ptr<const RotaryCache::Table>;

  // `table`, which is filled, with its first `rows` rows permuted: row t holds the angles of token
  // t's position.
  Table Get(const Table& table, const std::vector<MovedTokens>& moved, int64_t rows);

 private:
  struct Entry {
    Table from;  // keeps the address from being reused
    std::vector<MovedTokens> moved;
    int64_t rows;
    Table to;
  };
  std::vector<Entry> entries_;
};

// Those of one forward pass. Filled where `ops` reads them in host memory. Throws Cancelled.
class AttentionTables {
 public:
  AttentionTables(RotaryCache& rotary, const kernels::Executor& executor,
                  kernels::CancelFlag cancel)
      : rotary_(rotary), executor_(executor), cancel_(cancel) {}

  // For the positions of the first `rows` rows, and the plan's scale, window and soft cap.
  RotaryTables Make(const LayerOps& ops, const AttentionPlan& plan, int64_t rows);
  // `tables`, made by Make, for rows with these edits.
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

// SPDX-License-Identifier: MIT
// The rotary tables of a layer's heads by its plan. Internal to core.
#pragma once

#include <cstdint>

#include "core/compute/layer_ops.h"
#include "core/compute/moved_tables.h"
#include "core/compute/rotary_cache.h"
#include "core/plan/attention_edits.h"
#include "core/plan/attention_plan.h"
#include "kernels/parallel.h"

namespace midscope {

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

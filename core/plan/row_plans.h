// SPDX-License-Identifier: MIT
// A layer's plan row by row, where only some rows see a position scheme. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/row_range.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Makes plans to which a scheme has been applied hold for `rows` alone; in the others rows are
// rotated as in `own`, the plans of the model that is left alone. [layer] both.
void LimitScheme(RowRange rows, const std::vector<AttentionPlan>& own,
                 std::vector<AttentionPlan>& plans);

// Makes position ids that plans have been given hold for `rows` alone; the other rows are those of
// `own`, as above. A scheme's rows, where the plan has one, are the same.
void LimitIds(RowRange rows, const std::vector<AttentionPlan>& own,
              std::vector<AttentionPlan>& plans);

// The plan that holds for the row, without scheme_rows. A row without the scheme has ratio 1 and no
// ratio rule.
AttentionPlan PlanOfRow(const AttentionPlan& plan, int64_t row);

// `rows` in parts within which PlanOfRow is the same, in order.
std::vector<RowRange> PartsOfOnePlan(const AttentionPlan& plan, RowRange rows);

// The first row that sees the scheme; 0 where all rows do.
int64_t FirstSchemeRow(const AttentionPlan& plan);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Resolves a layer's plan row by row, if only some rows see a position scheme. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/row_range.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Limits plans to which a scheme has been applied to `rows`; other rows are rotated as in `own`,
// the plans of the unchanged model. Both are [layer].
void LimitScheme(RowRange rows, const std::vector<AttentionPlan>& own,
                 std::vector<AttentionPlan>& plans);

// Limits position ids that were given to plans to `rows`; other rows have those of `own`, as above.
// If the plan has a position scheme, its rows must be the same.
void LimitIds(RowRange rows, const std::vector<AttentionPlan>& own,
              std::vector<AttentionPlan>& plans);

// Returns the plan that holds for the row, without scheme_rows. A row that does not see the scheme
// has ratio 1 and no ratio rule.
AttentionPlan PlanOfRow(const AttentionPlan& plan, int64_t row);

// Splits `rows` into parts within which PlanOfRow is the same, in order.
std::vector<RowRange> PartsOfOnePlan(const AttentionPlan& plan, RowRange rows);

// Returns the first row that sees the scheme; 0 if all rows do.
int64_t FirstSchemeRow(const AttentionPlan& plan);

}  // namespace midscope

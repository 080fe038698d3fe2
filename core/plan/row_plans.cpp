// SPDX-License-Identifier: MIT
#include "core/plan/row_plans.h"

#include <algorithm>

namespace midscope {
namespace {

SchemeRows RowsBeside(const RowRange& rows, const AttentionPlan& own) {
  return {rows, own.inverse_frequency, own.magnitude};
}

}  // namespace

void LimitScheme(RowRange rows, const std::vector<AttentionPlan>& own,
                 std::vector<AttentionPlan>& plans) {
  if (rows == kAllRows) return;
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    if (plans[layer] != own[layer]) plans[layer].scheme_rows = RowsBeside(rows, own[layer]);
  }
}

void LimitIds(RowRange rows, const std::vector<AttentionPlan>& own,
              std::vector<AttentionPlan>& plans) {
  if (rows == kAllRows) return;
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    if (!plans[layer].position_ids.given()) continue;
    plans[layer].scheme_rows = RowsBeside(rows, own[layer]);
    plans[layer].scheme_rows->own_ids = true;
  }
}

AttentionPlan PlanOfRow(const AttentionPlan& plan, int64_t row) {
  AttentionPlan of_row = plan;
  of_row.scheme_rows.reset();
  if (!plan.scheme_rows) return of_row;
  const SchemeRows& scheme = *plan.scheme_rows;
  if (scheme.rows.first <= row && row < scheme.rows.last) return of_row;
  of_row.inverse_frequency = scheme.own_inverse_frequency;
  of_row.magnitude = scheme.own_magnitude;
  of_row.q_ratio.assign(plan.q_ratio.size(), 1.0);
  of_row.k_ratio.assign(plan.k_ratio.size(), 1.0);
  of_row.ratio_rule.reset();
  of_row.near_far.reset();
  of_row.log_scale_base = 0;
  if (scheme.own_ids) of_row.position_ids = {};
  return of_row;
}

std::vector<RowRange> PartsOfOnePlan(const AttentionPlan& plan, RowRange rows) {
  if (rows.empty()) return {};
  if (!plan.scheme_rows) return {rows};
  std::vector<RowRange> parts;
  const RowRange& scheme = plan.scheme_rows->rows;
  int64_t first = rows.first;
  for (const int64_t end : {scheme.first, scheme.last, rows.last}) {
    const int64_t last = std::clamp(end, first, rows.last);
    if (first < last) parts.push_back({first, last});
    first = last;
  }
  return parts;
}

int64_t FirstSchemeRow(const AttentionPlan& plan) {
  return plan.scheme_rows ? plan.scheme_rows->rows.first : 0;
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/plan/plan_changes.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/plan/row_plans.h"

namespace midscope {

namespace {

// Returns the plan without the members that are compared row by row.
AttentionPlan ForAllRows(AttentionPlan plan) {
  if (DecidedByLastRow(plan)) {
    plan.q_ratio.clear();
    plan.k_ratio.clear();
  }
  plan.near_far.reset();
  plan.window = 0;
  plan.log_scale_base = 0;
  plan.position_ids = {};
  plan.row_override.reset();
  plan.edits = {};
  plan.patches.clear();
  plan.residual = {};
  return plan;
}

int64_t FirstRowOf(const std::optional<RowOverride>& rows) {
  return rows ? rows->first_row : kNoRow;
}

// Returns the first row with a far key: rows before the window's end have none, unless ids are
// given.
int64_t FirstFarRow(const AttentionPlan& plan) {
  if (!plan.near_far) return kNoRow;
  return plan.position_ids.given() ? 0 : plan.near_far->window;
}

// Returns the first row whose ids differ. Moved tokens may take the ids of later tokens.
int64_t FirstOtherId(const AttentionPlan& before, const AttentionPlan& after) {
  const int64_t row = PositionIds::FirstDifference(before.position_ids, after.position_ids);
  const bool moves = !before.edits.moved.empty() || !after.edits.moved.empty();
  return row != kNoRow && moves ? 0 : row;
}

// Returns the first scaled row: queries at positions below the base have scale 1.
int64_t FirstScaledRow(const AttentionPlan& plan) {
  if (plan.log_scale_base == 0) return kNoRow;
  return plan.position_ids.given() ? 0 : plan.log_scale_base;
}

// Returns the first row that the window affects: rows before the window's end see all earlier keys.
int64_t FirstWindowedRow(const AttentionPlan& plan) {
  return plan.window > 0 ? plan.window : kNoRow;
}

// Returns the first changed row of one layer for equal input, if each plan holds for all rows.
int64_t ChangedRowOfPlans(const AttentionPlan& before, const AttentionPlan& after) {
  if (ForAllRows(before) != ForAllRows(after)) return 0;
  int64_t row =
      std::min({FirstChangedRow(before.edits, after.edits),
                FirstPatchedRow(before.patches, after.patches), FirstOtherId(before, after)});
  if (before.row_override != after.row_override)
    row = std::min({row, FirstRowOf(before.row_override), FirstRowOf(after.row_override)});
  if (before.near_far != after.near_far)
    row = std::min({row, FirstFarRow(before), FirstFarRow(after)});
  if (before.window != after.window)
    row = std::min({row, FirstWindowedRow(before), FirstWindowedRow(after)});
  if (before.log_scale_base != after.log_scale_base)
    row = std::min({row, FirstScaledRow(before), FirstScaledRow(after)});
  return row;
}

// Returns the first changed row of one layer's attention for equal input.
int64_t ChangedRowOfLayer(const AttentionPlan& before, const AttentionPlan& after) {
  for (const RowRange before_rows : PartsOfOnePlan(before, {0, kNoRow})) {
    for (const RowRange rows : PartsOfOnePlan(after, before_rows)) {
      const int64_t row =
          ChangedRowOfPlans(PlanOfRow(before, rows.first), PlanOfRow(after, rows.first));
      if (row < rows.last) return std::max(row, rows.first);
    }
  }
  return kNoRow;
}

}  // namespace

bool LeavesData(const AttentionPlan& plan) {
  return plan.memory || plan.residual.TakesMeans() ||
         std::any_of(plan.edits.ablated.begin(), plan.edits.ablated.end(),
                     [](const AblatedHead& ablated) { return ablated.with == AblateWith::kMean; });
}

bool DecidedByLastRow(const AttentionPlan& plan) {
  return plan.ratio_rule && !RatiosAreFixed(*plan.ratio_rule);
}

std::vector<int64_t> FirstChangedRows(std::span<const AttentionPlan> before,
                                      std::span<const AttentionPlan> after) {
  std::vector<int64_t> rows;
  rows.reserve(after.size());
  int64_t first = kNoRow;
  for (size_t layer = 0; layer < after.size(); ++layer) {
    const bool other_scores =
        first != kNoRow || PatchedScoresDiffer(before[layer].patches, after[layer].patches);
    const bool other_ratios = other_scores && DecidedByLastRow(after[layer]);
    first = std::min(first, ChangedRowOfLayer(before[layer], after[layer]));
    if (other_ratios) first = std::min(first, FirstSchemeRow(after[layer]));
    // Means are taken over all of the prompt's rows, and change with any of them.
    if (first != kNoRow && after[layer].residual.TakesMeans()) first = 0;
    first = std::min(first, FirstChangedRow(before[layer].residual, after[layer].residual));
    rows.push_back(first);
  }
  return rows;
}

std::vector<int64_t> FirstRowsToRun(std::vector<int64_t> changed_rows, int64_t first_layer,
                                    int64_t rows) {
  const bool any = first_layer > 0 && changed_rows[static_cast<size_t>(first_layer) - 1] < rows;
  if (any) std::fill_n(changed_rows.begin(), first_layer, int64_t{0});
  return changed_rows;
}

void CheckLayers(const LayerSet& layers, const ModelConfig& config, const std::string& term) {
  for (const auto& range : layers.ranges) {
    // An open end ("from layer 2 on") is written as a very large last layer.
    const bool open_end = range.last >= kEveryLayerAfter;
    if (range.first >= config.layers || (!open_end && range.last >= config.layers)) {
      const std::string named =
          open_end ? fmt::format("first_layer={}", range.first) : "layers=" + layers.Text();
      throw UsageError(term, named + " leaves the model's layers",
                       fmt::format("It has layers 0-{}", config.layers - 1));
    }
  }
}

void CheckNoWindow(std::span<const AttentionPlan> plans, const std::string& term,
                   const std::string& why) {
  const auto windowed = std::find_if(plans.begin(), plans.end(), [](const AttentionPlan& plan) {
    return plan.window > 0 || plan.chunk > 0;
  });
  if (windowed == plans.end()) return;
  const std::string keys = windowed->chunk > 0
                               ? fmt::format("its own chunk of {} keys", windowed->chunk)
                               : fmt::format("the last {} keys", windowed->window);
  throw UsageError(term,
                   fmt::format("layer {} sees {} alone{}", windowed - plans.begin(), keys, why),
                   "Add attend(all), or switch the model's window off: --sliding-window off");
}

RowRange RowsOf(const RowChoice& choice, int64_t prompt_tokens) {
  switch (choice.rows) {
    case ChannelRows::kAnswer:
      return {prompt_tokens - 1, INT64_MAX};
    case ChannelRows::kLast:
      return {prompt_tokens - 1, prompt_tokens};
    case ChannelRows::kLastN:
      return {std::max<int64_t>(0, prompt_tokens - choice.last_rows), INT64_MAX};
    case ChannelRows::kAll:
      return {0, INT64_MAX};
  }
  return {0, INT64_MAX};
}

}  // namespace midscope

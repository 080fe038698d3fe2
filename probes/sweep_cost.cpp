// SPDX-License-Identifier: MIT
#include "probes/sweep_cost.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>

#include "core/attention_plan.h"
#include "core/passage.h"
#include "core/plan_changes.h"

namespace midscope {
namespace {

// The share of a run's rows, over all layers, that differ between two settings.
double ShareOfRows(std::span<const AttentionPlan> before, std::span<const AttentionPlan> after,
                   int64_t tokens) {
  double rows = 0;
  for (const int64_t first : FirstChangedRows(before, after))
    rows += static_cast<double>(tokens - std::min(first, tokens));
  return rows / static_cast<double>(tokens) / static_cast<double>(after.size());
}

// The share of a whole run of the prompt that each setting costs, in EvaluationOrder.
double SharesOfSettings(const SweepPlan& plan, const Prompt& prompt, const ModelConfig& config) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  const auto answer = static_cast<int64_t>(std::max<size_t>(prompt.answer_ids.size(), 1));
  const double last_rows =
      kLastRowsShare + static_cast<double>(answer) / static_cast<double>(tokens);
  std::vector<AttentionPlan> before;
  double shares = 0;
  for (const size_t setting : EvaluationOrder(plan.settings)) {
    const Intervention resolved = ResolvePassages(plan.settings[setting].intervention, prompt);
    std::vector<AttentionPlan> after = CompilePlans(resolved, config, tokens, tokens + answer - 1);
    if (before.empty()) {
      shares += 1;
    } else {
      shares += std::max(last_rows, ShareOfRows(before, after, tokens));
    }
    before = std::move(after);
  }
  return shares;
}

}  // namespace

SampleCost CostOfSample(const SweepPlan& plan, const std::vector<TaskQuestion>& questions,
                        const ModelConfig& config, bool traces_fit) {
  SampleCost cost;
  const auto settings = static_cast<double>(plan.settings.size());
  cost.prompts = static_cast<int64_t>(questions.size());
  cost.runs = cost.prompts * static_cast<int64_t>(plan.settings.size());
  for (const TaskQuestion& question : questions) {
    const auto tokens = static_cast<double>(question.prompt.ids.size());
    cost.prompt_tokens += tokens;
    if (plan.score.likelihood) {
      cost.work_tokens +=
          tokens * (traces_fit ? SharesOfSettings(plan, question.prompt, config) : settings);
    }
    if (!plan.score.generation) continue;
    const double made = settings * static_cast<double>(question.sample.generation.new_tokens);
    cost.generated_tokens += made;
    cost.work_tokens += settings * tokens + made * kGeneratedTokenCost;
  }
  return cost;
}

Schedule PlanSchedule(const std::vector<CellCost>& cells, int64_t ranks) {
  // When each rank is free, and the model that it has open.
  constexpr size_t kNoModel = static_cast<size_t>(-1);
  using Rank = std::pair<double, size_t>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> free;
  for (int64_t rank = 0; rank < ranks; ++rank) free.emplace(0.0, kNoModel);
  double worked = 0;
  double end = 0;
  for (const CellCost& cell : cells) {
    for (int64_t sample = 0; sample < cell.samples; ++sample) {
      auto [at, open] = free.top();
      free.pop();
      if (open != cell.model) at += cell.seconds_to_open;
      at += cell.seconds_per_sample;
      worked += cell.seconds_per_sample;
      end = std::max(end, at);
      free.emplace(at, cell.model);
    }
  }
  Schedule schedule;
  schedule.ranks = ranks;
  schedule.seconds = end;
  schedule.busy = end > 0 ? worked / (end * static_cast<double>(ranks)) : 1;
  return schedule;
}

}  // namespace midscope

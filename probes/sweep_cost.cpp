// SPDX-License-Identifier: MIT
#include "probes/sweep_cost.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "core/attention_plan.h"
#include "core/passage.h"
#include "core/plan_changes.h"

namespace midscope {
namespace {

using ShareOfChange = std::function<double(std::span<const int64_t> first_rows, int64_t tokens)>;

// What-if runs in each layer the rows that differ there.
double RowsOfAllLayers(std::span<const int64_t> first_rows, int64_t tokens) {
  double rows = 0;
  for (const int64_t first : first_rows)
    rows += static_cast<double>(tokens - std::min(first, tokens));
  return rows / static_cast<double>(tokens) / static_cast<double>(first_rows.size());
}

// Generation goes on, in all layers, from the first row that differs in any.
double RowsFromTheFirst(std::span<const int64_t> first_rows, int64_t tokens) {
  return static_cast<double>(tokens - std::min(first_rows.back(), tokens)) /
         static_cast<double>(tokens);
}

// The share of a whole run of the prompt that all settings cost together, in EvaluationOrder;
// `behind`: tokens that follow the prompt and are run again each time.
double SharesOfSettings(const SweepPlan& plan, const Prompt& prompt, const ModelConfig& config,
                        int64_t behind, const ShareOfChange& share_of_change) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  const double last_rows =
      kLastRowsShare + static_cast<double>(behind) / static_cast<double>(tokens);
  std::vector<AttentionPlan> before;
  double shares = 0;
  for (const size_t setting : EvaluationOrder(plan.settings)) {
    const Intervention resolved = ResolvePassages(plan.settings[setting].intervention, prompt);
    std::vector<AttentionPlan> after = CompilePlans(resolved, config, tokens, tokens + behind - 1);
    shares += before.empty()
                  ? 1
                  : std::max(last_rows, share_of_change(FirstChangedRows(before, after), tokens));
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
    const auto answer =
        static_cast<int64_t>(std::max<size_t>(question.prompt.answer_ids.size(), 1));
    if (plan.score.likelihood) {
      cost.work_tokens += tokens * (traces_fit ? SharesOfSettings(plan, question.prompt, config,
                                                                  answer, RowsOfAllLayers)
                                               : settings);
    }
    if (!plan.score.generation) continue;
    const double made = settings * static_cast<double>(question.sample.generation.new_tokens);
    cost.generated_tokens += made;
    cost.work_tokens +=
        tokens * SharesOfSettings(plan, question.prompt, config, 1, RowsFromTheFirst) +
        made * kGeneratedTokenCost;
  }
  return cost;
}

Schedule PlanSchedule(const std::vector<CellCost>& cells, int64_t ranks) {
  Schedule schedule;
  schedule.ranks = ranks;
  const auto all = static_cast<double>(ranks);
  for (size_t i = 0; i < cells.size(); ++i) {
    const CellCost& cell = cells[i];
    const bool opened = i > 0 && cells[i - 1].model == cell.model;
    const double open = opened ? 0 : cell.seconds_to_open;
    const int64_t most = (cell.samples + ranks - 1) / ranks;
    schedule.seconds += open + static_cast<double>(most) * cell.seconds_per_sample;
    schedule.open_seconds += open * all;
    schedule.sample_seconds += static_cast<double>(cell.samples) * cell.seconds_per_sample;
    schedule.most_samples += most;
    schedule.fewest_samples += cell.samples / ranks;
  }
  if (schedule.seconds > 0) schedule.busy = schedule.sample_seconds / (schedule.seconds * all);
  return schedule;
}

namespace {

// Beyond one a sample they are idle.
int64_t UsableRanks(const std::vector<CellCost>& cells, int64_t ranks) {
  int64_t most = 1;
  for (const CellCost& cell : cells) most = std::max(most, cell.samples);
  return std::min(ranks, most);
}

}  // namespace

int64_t FewestRanks(const std::vector<CellCost>& cells, int64_t ranks, double slack) {
  const double latest = PlanSchedule(cells, ranks).seconds * (1 + slack);
  int64_t fewest = UsableRanks(cells, ranks);
  while (fewest > 1 && PlanSchedule(cells, fewest - 1).seconds <= latest) --fewest;
  return fewest;
}

int64_t MostBusyRanks(const std::vector<CellCost>& cells, int64_t ranks, double busy) {
  int64_t most = UsableRanks(cells, ranks);
  while (most > 1 && PlanSchedule(cells, most).busy < busy) --most;
  return most;
}

}  // namespace midscope

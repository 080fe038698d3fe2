// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_cost.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/plan/run_positions.h"
#include "core/run/shared_prefix.h"
#include "probes/model/tensor_library.h"
#include "probes/sweep/likelihood_prompts.h"

namespace midscope {
namespace {

using ShareOfChange = std::function<double(std::span<const int64_t> first_rows, int64_t tokens)>;

// Returns the number of rows times layers that generation runs again; it continues in all layers
// from the first row that differs in any layer.
double RowsFromTheFirst(std::span<const int64_t> first_rows, int64_t tokens) {
  return static_cast<double>(tokens - std::min(first_rows.back(), tokens)) /
         static_cast<double>(tokens);
}

// Cost of the runs of one kind of scoring: a sample's prompts under all settings.
struct ArmCost {
  const SweepPlan& plan;
  const std::vector<TaskQuestion>& questions;
  const ModelConfig& config;
  // Returns the number of tokens that follow a prompt; every run of the prompt runs them again.
  std::function<int64_t(const TaskQuestion& question)> behind;
  ShareOfChange share_of_change;

  double Tokens() const;
  // Returns the cost of a setting that runs after another one (`before` empty: it is the first).
  double TokensOf(const std::vector<std::vector<AttentionPlan>>& before,
                  const std::vector<std::vector<AttentionPlan>>& after) const;
};

double ArmCost::TokensOf(const std::vector<std::vector<AttentionPlan>>& before,
                         const std::vector<std::vector<AttentionPlan>>& after) const {
  double sum = 0;
  std::vector<FreshSequence> whole;
  for (size_t i = 0; i < questions.size(); ++i) {
    const std::vector<int32_t>& ids = questions[i].prompt.ids;
    const auto tokens = static_cast<int64_t>(ids.size());
    const std::vector<int64_t> changed = before.empty() ? std::vector<int64_t>(after[i].size(), 0)
                                                        : FirstChangedRows(before[i], after[i]);
    const double share = share_of_change(changed, tokens);
    sum += TokensOfRun(share, tokens, behind(questions[i]));
    if (share >= 1) whole.push_back({ids, tokens, after[i]});
  }
  LoadTensorLibrary();
  if (const auto sharing = FindPrefixSharing(whole))
    sum -= static_cast<double>(
        std::accumulate(sharing->rows.begin(), sharing->rows.end(), int64_t{0}));
  return sum;
}

bool PositionsFit(const Intervention& intervention, const ModelConfig& config,
                  int64_t prompt_tokens, int64_t rows) {
  try {
    CheckPositionsHeld(intervention, config, prompt_tokens, rows);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Sums the cost over settings in EvaluationOrder.
double ArmCost::Tokens() const {
  std::vector<std::vector<AttentionPlan>> before;
  double tokens = 0;
  for (const size_t setting : EvaluationOrder(plan.settings)) {
    std::vector<std::vector<AttentionPlan>> after;
    after.reserve(questions.size());
    for (const TaskQuestion& question : questions) {
      const auto prompt_tokens = static_cast<int64_t>(question.prompt.ids.size());
      Intervention intervention =
          ResolvePassages(plan.settings[setting].intervention, question.prompt);
      const int64_t rows = prompt_tokens + behind(question) - 1;
      // A setting whose positions do not fit is not run on this prompt.
      if (!PositionsFit(intervention, config, prompt_tokens, rows)) intervention = {};
      after.push_back(CompilePlans(intervention, config, prompt_tokens, rows));
    }
    tokens += TokensOf(before, after);
    before = std::move(after);
  }
  return tokens;
}

int64_t AnswerTokens(const TaskQuestion& question) {
  return static_cast<int64_t>(std::max<size_t>(question.prompt.answer_ids.size(), 1));
}

}  // namespace

SampleCost CostOfSample(const SweepPlan& plan, const std::vector<TaskQuestion>& questions,
                        const ModelConfig& config, bool traces_fit) {
  SampleCost cost;
  const auto settings = static_cast<double>(plan.settings.size());
  cost.prompts = static_cast<int64_t>(questions.size());
  cost.runs = cost.prompts * static_cast<int64_t>(plan.settings.size());
  for (const TaskQuestion& question : questions) {
    cost.prompt_tokens += static_cast<double>(question.prompt.ids.size());
    if (plan.score.generation) {
      cost.generated_tokens +=
          settings * static_cast<double>(question.sample.generation.new_tokens);
    }
  }
  if (plan.score.likelihood) {
    // Includes the choices that need separate runs.
    const std::vector<TaskQuestion> asked = AnswerQuestions(LikelihoodPrompts(questions).all());
    double tokens = 0;
    for (const TaskQuestion& one : asked) tokens += static_cast<double>(one.prompt.ids.size());
    cost.work_tokens += traces_fit
                            ? ArmCost{plan, asked, config, AnswerTokens, ShareOfRows}.Tokens()
                            : settings * tokens;
  }
  if (plan.score.generation) {
    const auto one = [](const TaskQuestion&) { return int64_t{1}; };
    cost.work_tokens += ArmCost{plan, questions, config, one, RowsFromTheFirst}.Tokens();
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

// Returns the number of ranks that can be busy; ranks beyond the number of samples would be idle.
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

// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>
#include <vector>

#include "data/tasks/task.h"
#include "probes/cli/commands/sweep_table.h"

namespace midscope::cli {
namespace {

std::string FirstSettingFailure(const SweepResult& result) {
  for (const SampleOutcome& outcome : result.outcomes) {
    for (const std::string& failure : outcome.failures) {
      if (!failure.empty()) return failure;
    }
  }
  return "";
}

}  // namespace

CellReport MakeReport(const SweepCell& cell, const std::string& file, const SweepPlan& plan,
                      const SweepResult& result, const JobContext& job) {
  return {cell,
          file,
          plan,
          Summarise(plan, result),
          AnalyseSweep(plan, result.outcomes, result.tests, job),
          static_cast<int64_t>(result.failures.size()),
          result.too_long(),
          result.partly_failed(),
          FirstSettingFailure(result),
          GenerationMeanText(result),
          GeneratedOutcomesOf(plan, result.outcomes),
          IsPerplexityTask(plan.task)
              ? std::vector<MeasureGroups>()
              : GroupMeansOf(result.outcomes, plan.settings.size(), plan.places.size()),
          PromptCutsOf(plan, result.outcomes),
          FailedSamplesText(result)};
}

}  // namespace midscope::cli

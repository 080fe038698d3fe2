// SPDX-License-Identifier: MIT
// Formats the results of a sweep, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/cli/console/text_table.h"
#include "probes/measure/statistics/group_means.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/generated_outcomes.h"
#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_context.h"
#include "probes/sweep/sweep_grid.h"
#include "probes/sweep/sweep_statistics.h"

namespace midscope::cli {

// The report of the sweep of one grid cell (model, task, size, seed); most sweeps have one cell.
struct CellReport {
  SweepCell cell;
  std::string file;  // path of the results file; "": no file
  SweepPlan plan;
  std::vector<CellStatistics> means;  // statistics of each cell, [setting, place]
  SweepStatistics statistics;
  int64_t failed = 0;           // number of failed samples
  int64_t too_long = 0;         // failed samples whose prompt is too long
  int64_t partly_failed = 0;    // samples on which some settings were not run
  std::string setting_failure;  // the first failure of a setting
  std::string generation_mean;  // text from GenerationMeanText
  GeneratedOutcomes generated;
  std::vector<MeasureGroups> groups = {};
  PromptCuts cuts = {};
  std::string failed_samples = {};  // text from FailedSamplesText
  std::string chosen_places = {};   // text from ChosenPlacesText; "": all places
};

// Makes the report; computes the tests if `result` does not have them (SweepResult::tests), and
// throws Cancelled if `job` is cancelled during that.
CellReport MakeReport(const SweepCell& cell, const std::string& file, const SweepPlan& plan,
                      const SweepResult& result, const JobContext& job = {});

// Returns {"rows": [{"setting", "setting_canonical", "place", "samples", "accuracy", "answer_nll",
// ...}], "sweeps": [{"model", "task", "seed", ..., "settings", "comparisons", "advice"}]}; a sweep
// over several data sets also has "groups". With several cells, a row also has "model", "task" and
// "seed". Values that were not requested are omitted or null; intervals of fewer than two samples
// are null. If not 0, a row also has the numbers of samples "beyond_context_samples" (the prompt
// exceeds the context), "not_run_samples" (the setting was not run), "cut_samples" (the task cut
// the prompt) and "gold_cut_samples" (the task cut out the gold piece); for generating sweeps the
// values of AddGeneratedCell and AnsweredPlacesJson (generated_table.h; the latter as
// "answered_place" of a sweep). Member "verdicts" of a sweep has a PlaceVerdict per setting
// ("setting", "measure", "verdict": its sentence, "matters", "p", "p_adjusted", "best", "worst",
// "gap", "low", "high", "chance", "detectable"); "chosen_places" is set if the report is over a
// part of the sweep's places.
std::string SweepJson(const std::vector<CellReport>& reports);
std::string SweepText(const std::vector<CellReport>& reports);

// Returns a setting's text as tables show it: with "(control)", and "*" if prompts exceed the
// context.
std::string SettingText(const CellReport& report, size_t setting);
// Returns whether the tables show a measure: likelihood and the score of the published task. The
// file and the JSON contain all measures.
bool IsShown(const CellReport& report, const std::string& measure);
// Returns one line per setting, its PlaceVerdict; the first line lists the chosen places, if any.
std::string VerdictLines(const CellReport& report);
// Returns the tables by place and over places, each with its notes.
Printout SweepTables(const CellReport& report);
// Returns lines that explain how intervals and tests were made, and how many samples a smaller
// difference would need; "" for fewer than two samples.
std::string SweepMethodLines(const CellReport& report);

// Returns one line per setting with values by place, shown while a sweep runs.
std::string RunningTable(const SweepPlan& plan, const SweepResult& result);

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// Compares a run with published numbers: differences (ours minus theirs) with intervals.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "probes/cli/commands/file_outcome.h"

namespace midscope::cli {

// Factor by which tables multiply shares.
inline constexpr double kPublishedPercent = 100;

// As MatchSetting, but kNone if the tuning of the run's model is not that of the row.
PublishedMatch MatchRun(const FileOutcome& outcome, const std::string& setting,
                        const PublishedMethod& method, const TuningRecipe& recipe);
bool IsOfOneSetting(PublishedMatch match);
const char* MatchName(PublishedMatch match);
// The row's settings, as text: "pi(1.5)", "ms-poe(...) or ms-poe(...)".
std::string MethodText(const PublishedMethod& method);
// As above, with the interpolation of a tuned model for the run's context.
std::string MethodText(const PublishedMethod& method, const FileOutcome& outcome);

// Ours minus theirs. If the source states the number of samples of its share, the interval includes
// the sampling error of both (Wilson's score interval; for a mean over places, of the samples of
// one place, so that it is rather too wide). Otherwise it includes only the error of the run, and
// the printed number counts as exact. NaN if the run has no interval.
struct PublishedDifference {
  double value = 0;
  Interval interval;
  bool both_sides = false;
};
// `theirs`: a share, from `samples` samples (0: not stated).
PublishedDifference DifferenceOfShares(double ours, Interval of_ours, double theirs,
                                       int64_t samples);
// Returns "+34.8 [30.1, 39.0]", multiplied by `scale`; "-" if there is none.
std::string DifferenceText(const PublishedDifference& difference, double scale);
nlohmann::ordered_json DifferenceJson(const PublishedDifference& difference, double scale);

// A published number that is not an outcome by place, compared with one setting of the run.
struct NumberBeside {
  std::string row;
  std::string column;
  std::string setting;
  PublishedMatch match = PublishedMatch::kNone;
  double ours = 0;  // in the table's unit
  double theirs = 0;
  PublishedDifference difference;
  bool marked = false;
  std::string data;
};

// A published number that the run has no counterpart of.
struct NumberAlone {
  std::string model;  // "" if the table does not name it
  std::string text;   // "ROW, COLUMN: reason why the run has no such number"
};

struct NumbersBeside {
  std::vector<NumberBeside> numbers;
  std::vector<NumberAlone> without;
  int64_t other_models = 0;          // models that were not selected
  int64_t other_models_numbers = 0;  // numbers of theirs
};

// Whether the table has such numbers for a run of that task.
bool HasNumbersFor(const PublishedTable& table, const std::string& task);

// Throws Error (usage), which lists the models of the table, unless `model` is one of them or "".
void CheckPublishedModel(const PublishedTable& table, const std::string& model);

// Compares the numbers of `model`; "": of all models.
NumbersBeside CompareNumbers(const PublishedTable& table, const FileOutcome& outcome,
                             const std::string& model);
// Numbers without counterpart are listed; if the table has several models, they are counted
// unless one was selected.
std::string NumbersBesideText(const PublishedTable& table, const NumbersBeside& beside);
nlohmann::ordered_json NumbersBesideJson(const NumbersBeside& beside);

}  // namespace midscope::cli

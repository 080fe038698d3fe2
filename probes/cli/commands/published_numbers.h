// SPDX-License-Identifier: MIT
// Compares the results of a run with published numbers: differences (ours minus theirs), intervals.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "probes/cli/commands/file_outcome.h"

namespace midscope::cli {

// Factor that converts shares to the percentages of published tables.
inline constexpr double kPublishedPercent = 100;

// Returns how a setting of the run matches a published row, as MatchSetting does, but kNone if the
// run's model was not tuned as the row states.
PublishedMatch MatchRun(const FileOutcome& outcome, const std::string& setting,
                        const PublishedMethod& method, const TuningRecipe& recipe);
bool IsOfOneSetting(PublishedMatch match);
const char* MatchName(PublishedMatch match);
// Returns the settings of a published row as text: "pi(1.5)", "ms-poe(...) or ms-poe(...)".
std::string MethodText(const PublishedMethod& method);
// Returns the settings of a published row as text; a tuned model's position interpolation is that
// for the run's context.
std::string MethodText(const PublishedMethod& method, const FileOutcome& outcome);

// The run's value minus the published one. If the publication states its number of samples, the
// interval includes the sampling error of both (Wilson's score interval; for a mean over places, of
// the samples of one place, so that it is rather too wide). Otherwise it includes only the error of
// the run, and the published number is treated as exact. NaN if the run has no interval.
struct PublishedDifference {
  double value = 0;
  Interval interval;
  bool both_sides = false;
};
// Returns the difference of two shares. `theirs`: published share, of `samples` samples (0: not
// stated).
PublishedDifference DifferenceOfShares(double ours, Interval of_ours, double theirs,
                                       int64_t samples);
// Returns a difference with its interval, times `scale`: "+34.8 [30.1, 39.0]"; "-" if there is
// none.
std::string DifferenceText(const PublishedDifference& difference, double scale);
nlohmann::ordered_json DifferenceJson(const PublishedDifference& difference, double scale);

// A published number that is not an outcome by place (a mean, for example), compared with one
// setting of the run.
struct NumberBeside {
  std::string row;
  std::string column;
  std::string setting;
  PublishedMatch match = PublishedMatch::kNone;
  double ours = 0;  // the run's value, in the unit of the table
  double theirs = 0;
  PublishedDifference difference;
  bool marked = false;
  std::string data;
};

// A published number for which the run has no corresponding result.
struct NumberAlone {
  std::string model;  // name of the model; "" if the table does not name it
  std::string text;   // "ROW, COLUMN: reason why the run has no such number"
};

struct NumbersBeside {
  std::vector<NumberBeside> numbers;
  std::vector<NumberAlone> without;
  int64_t other_models = 0;          // models that were not selected
  int64_t other_models_numbers = 0;  // published numbers of the models that were not selected
};

// Returns whether the table has numbers other than outcomes by place for a run of that task.
bool HasNumbersFor(const PublishedTable& table, const std::string& task);

// Throws Error (usage), which lists the models of the table, unless `model` is one of these or "".
void CheckPublishedModel(const PublishedTable& table, const std::string& model);

// Compares the published numbers of `model` with the run; "": those of all models.
NumbersBeside CompareNumbers(const PublishedTable& table, const FileOutcome& outcome,
                             const std::string& model);
// Returns the comparison as text. Published numbers without counterpart in the run are listed; if
// the table has several models and none was selected, they are only counted.
std::string NumbersBesideText(const PublishedTable& table, const NumbersBeside& beside);
nlohmann::ordered_json NumbersBesideJson(const NumbersBeside& beside);

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// A run beside published numbers: differences, ours minus theirs, with intervals.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "probes/cli/commands/file_outcome.h"

namespace midscope::cli {

// Tables print shares times this.
inline constexpr double kPublishedPercent = 100;

// MatchSetting, and kNone if the model's recipe is not the row's.
PublishedMatch MatchRun(const FileOutcome& outcome, const std::string& setting,
                        const PublishedMethod& method, const TuningRecipe& recipe);
bool IsOfOneSetting(PublishedMatch match);
const char* MatchName(PublishedMatch match);
// The source's description of the row's settings: "pi(1.5)", "ms-poe(...) or ms-poe(...)".
std::string MethodText(const PublishedMethod& method);

// Ours minus theirs. The interval holds the chance of both sides where the source states how many
// samples are behind its share (Wilson's score; of a mean over places that number once, so that it
// is rather too wide), else that of the run alone: the printed number is taken as exact. NaN if the
// run has no interval.
struct PublishedDifference {
  double value = 0;
  Interval interval;
  bool both_sides = false;
};
// `theirs` as a share, with `samples` (0: not stated).
PublishedDifference DifferenceOfShares(double ours, Interval of_ours, double theirs,
                                       int64_t samples);
// "+34.8 [30.1, 39.0]", times `scale`; "-" for none.
std::string DifferenceText(const PublishedDifference& difference, double scale);
nlohmann::ordered_json DifferenceJson(const PublishedDifference& difference, double scale);

// A number of a table that is not an outcome by place, beside one setting of the run.
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

struct NumbersBeside {
  std::vector<NumberBeside> numbers;
  std::vector<std::string> without;  // "ROW, COLUMN: why no number of the run stands beside it"
};

// Whether the table has numbers for a run of that task.
bool HasNumbersFor(const PublishedTable& table, const std::string& task);

NumbersBeside CompareNumbers(const PublishedTable& table, const FileOutcome& outcome);
std::string NumbersBesideText(const PublishedTable& table, const NumbersBeside& beside);
nlohmann::ordered_json NumbersBesideJson(const NumbersBeside& beside);

}  // namespace midscope::cli

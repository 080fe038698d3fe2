// SPDX-License-Identifier: MIT
#include "probes/cli/commands/published_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/statistics/intervals.h"

namespace midscope::cli {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kSecondsMeasure = "seconds";
constexpr const char* kPerplexityMeasure = "perplexity";

// A number of the run, or the reason why it has none.
struct RunNumber {
  double value = kNoNumber;
  Interval interval = {kNoNumber, kNoNumber};
  std::string why_not;
};

RunNumber Without(std::string why) { return {kNoNumber, {kNoNumber, kNoNumber}, std::move(why)}; }

// Returns the factor for printing: 100 for shares and scores.
double Scale(const PublishedNumber& number) {
  return number.measure == "answered" ? kPublishedPercent : 1;
}

// Returns the name of a task's "file=" without folder and extension, which is the name of its only
// data set.
std::string FileStem(const std::string& task) {
  const size_t begin = task.find("file=");
  if (begin == std::string::npos) return "";
  const std::string rest = task.substr(begin + 5);
  return std::filesystem::path(rest.substr(0, rest.find(','))).stem().string();
}

RunNumber MeanOfSets(const PublishedNumber& number, const FileOutcome& outcome, size_t setting) {
  if (outcome.sets.empty() && number.sets.size() == 1 &&
      FileStem(outcome.task) == number.sets.front()) {
    return {outcome.mean[setting], outcome.mean_interval[setting], ""};
  }
  double sum = 0;
  std::string missing;
  for (const std::string& set : number.sets) {
    const auto found = outcome.sets.find(set);
    if (found == outcome.sets.end()) {
      missing.append(missing.empty() ? "" : ", ").append(set);
    } else {
      sum += found->second[setting];
    }
  }
  if (!missing.empty()) return Without("the run lacks " + missing);
  return {sum / static_cast<double>(number.sets.size()), {kNoNumber, kNoNumber}, ""};
}

RunNumber MeanOfPlaces(const PublishedNumber& number, const FileOutcome& outcome, size_t setting) {
  std::vector<int64_t> wanted = number.places;
  std::vector<int64_t> has = outcome.places;
  std::sort(has.begin(), has.end());
  if (wanted.empty() || wanted == has) {
    return {outcome.mean[setting], outcome.mean_interval[setting], ""};
  }
  double sum = 0;
  for (const int64_t place : wanted) {
    const int64_t cell = outcome.Cell(outcome.settings[setting], place);
    if (cell < 0) return Without(fmt::format("the run lacks place {}", place));
    sum += outcome.answered[static_cast<size_t>(cell)];
  }
  return {sum / static_cast<double>(wanted.size()), {kNoNumber, kNoNumber}, ""};
}

RunNumber RelativeSeconds(const PublishedTable& table, const PublishedNumber& number,
                          const FileOutcome& outcome, size_t setting) {
  if (outcome.seconds.empty()) return Without("the run has no seconds per setting");
  const auto base = std::find(table.rows.begin(), table.rows.end(), number.relative_to);
  const PublishedMethod& method = table.MethodOf(static_cast<size_t>(base - table.rows.begin()));
  for (size_t i = 0; i < outcome.settings.size(); ++i) {
    if (MatchSetting(outcome.settings[i], method) != PublishedMatch::kSame) continue;
    return {outcome.seconds[setting] / outcome.seconds[i], {kNoNumber, kNoNumber}, ""};
  }
  return Without("the run lacks " + MethodText(method) + ", to which seconds are related");
}

RunNumber NumberOfRun(const PublishedTable& table, const PublishedNumber& number,
                      const FileOutcome& outcome, size_t setting) {
  if (number.measure == kSecondsMeasure) return RelativeSeconds(table, number, outcome, setting);
  if (number.measure == kPerplexityMeasure) {
    if (outcome.perplexity.empty()) return Without("the run has no perplexity");
    const size_t cell = setting * outcome.places.size();
    return {outcome.perplexity[cell], outcome.perplexity_interval[cell], ""};
  }
  return number.sets.empty() ? MeanOfPlaces(number, outcome, setting)
                             : MeanOfSets(number, outcome, setting);
}

// Returns the printed number; if the comparison is relative to another row, divided by that row's
// number.
double PublishedValue(const PublishedTable& table, const PublishedNumber& number, size_t row) {
  const size_t column = table.ColumnIndex(number.column);
  const double value = table.Value(row, column);
  if (number.relative_to.empty()) return value;
  const auto base = std::find(table.rows.begin(), table.rows.end(), number.relative_to);
  return value / table.Value(static_cast<size_t>(base - table.rows.begin()), column);
}

int64_t SamplesBehind(const PublishedTable& table, const PublishedNumber& number, size_t row) {
  // Scores are not shares of samples.
  if (number.measure != "answered" || table.unit != "%") return 0;
  for (const PublishedMark* mark : table.MarksOf(row, number.column)) {
    if (mark->kind == PublishedMarkKind::kSamples) return 0;
  }
  return table.samples;
}

// Returns why no setting of the run matches the row.
std::string WhyNoSetting(const FileOutcome& outcome, const PublishedMethod& method,
                         const TuningRecipe& recipe) {
  if (!IsOfRecipe(outcome.recipe, recipe)) {
    return "its model is " + TuningRecipeText(recipe) + ", yours " +
           TuningRecipeText(outcome.recipe);
  }
  const std::string text = MethodText(method);
  return text.empty() ? "this program has no such setting"
                      : "yours has no setting of this method (" + text + ")";
}

void CompareRow(const PublishedTable& table, const PublishedNumber& number, size_t row,
                const FileOutcome& outcome, NumbersBeside& beside) {
  const double theirs = PublishedValue(table, number, row);
  if (!std::isfinite(theirs) || number.relative_to == table.rows[row]) return;
  const PublishedMethod& method = table.MethodOf(row, number.column);
  const TuningRecipe& recipe = table.RecipeOf(row);
  const double scale = Scale(number);
  std::string why = WhyNoSetting(outcome, method, recipe);
  bool found = false;
  for (size_t i = 0; i < outcome.settings.size(); ++i) {
    const PublishedMatch match = MatchRun(outcome, outcome.settings[i], method, recipe);
    if (!IsOfOneSetting(match)) continue;
    const RunNumber ours = NumberOfRun(table, number, outcome, i);
    if (!ours.why_not.empty()) why = ours.why_not;
    if (!ours.why_not.empty() || !std::isfinite(ours.value)) continue;
    found = true;
    beside.numbers.push_back({table.rows[row], number.column, outcome.settings[i], match,
                              ours.value * scale, theirs,
                              DifferenceOfShares(ours.value, ours.interval, theirs / scale,
                                                 SamplesBehind(table, number, row)),
                              !table.MarksOf(row, number.column).empty(), number.data});
    PublishedDifference& difference = beside.numbers.back().difference;
    difference.value *= scale;
    difference.interval = {difference.interval.low * scale, difference.interval.high * scale};
  }
  if (!found) beside.without.push_back(table.rows[row] + ", " + number.column + ": " + why);
}

// Adds those printed averages whose parts all have a number of the run.
void AddAverages(const PublishedTable& table, NumbersBeside& beside) {
  const std::vector<NumberBeside> parts = beside.numbers;
  for (const auto& [column, of] : table.averages) {
    for (const NumberBeside& first : parts) {
      if (first.column != of.front()) continue;
      double sum = 0;
      size_t found = 0;
      for (const NumberBeside& part : parts) {
        const bool is_part = std::find(of.begin(), of.end(), part.column) != of.end();
        if (!is_part || part.row != first.row || part.setting != first.setting) continue;
        sum += part.ours;
        ++found;
      }
      if (found != of.size()) continue;
      const auto row = static_cast<size_t>(
          std::find(table.rows.begin(), table.rows.end(), first.row) - table.rows.begin());
      NumberBeside average = first;
      average.column = column;
      average.ours = sum / static_cast<double>(found);
      average.theirs = table.Value(row, table.ColumnIndex(column));
      average.difference = {average.ours - average.theirs, {kNoNumber, kNoNumber}, false};
      average.marked = !table.MarksOf(row, column).empty();
      beside.numbers.push_back(std::move(average));
    }
  }
}

}  // namespace

PublishedMatch MatchRun(const FileOutcome& outcome, const std::string& setting,
                        const PublishedMethod& method, const TuningRecipe& recipe) {
  return IsOfRecipe(outcome.recipe, recipe) ? MatchSetting(setting, method) : PublishedMatch::kNone;
}

bool IsOfOneSetting(PublishedMatch match) {
  return match == PublishedMatch::kSame || match == PublishedMatch::kMethodAlone;
}

const char* MatchName(PublishedMatch match) {
  switch (match) {
    case PublishedMatch::kSame:
      return "same";
    case PublishedMatch::kMethodAlone:
      return "method alone";
    case PublishedMatch::kOtherArguments:
      return "other arguments";
    case PublishedMatch::kNone:
      break;
  }
  return "none";
}

std::string MethodText(const PublishedMethod& method) {
  std::string text;
  for (const std::string& setting : method.settings) {
    text += (text.empty() ? "" : " or ") + setting;
  }
  return text.empty() ? method.term : text;
}

PublishedDifference DifferenceOfShares(double ours, Interval of_ours, double theirs,
                                       int64_t samples) {
  const Interval of_theirs =
      samples > 0 ? ShareInterval(theirs, static_cast<double>(samples)) : Interval{theirs, theirs};
  return {ours - theirs, IndependentDifferenceInterval(ours, of_ours, theirs, of_theirs),
          samples > 0};
}

std::string DifferenceText(const PublishedDifference& difference, double scale) {
  if (!std::isfinite(difference.value)) return "-";
  std::string text = fmt::format("{:+.1f}", difference.value * scale);
  if (std::isfinite(difference.interval.low)) {
    text += fmt::format(" [{:.1f}, {:.1f}]", difference.interval.low * scale,
                        difference.interval.high * scale);
  }
  return text;
}

nlohmann::ordered_json DifferenceJson(const PublishedDifference& difference, double scale) {
  return {{"value", NumberOrNull(difference.value * scale)},
          {"low", NumberOrNull(difference.interval.low * scale)},
          {"high", NumberOrNull(difference.interval.high * scale)},
          {"interval_of", difference.both_sides ? "both" : "yours"}};
}

bool HasNumbersFor(const PublishedTable& table, const std::string& task) {
  return std::any_of(
      table.numbers.begin(), table.numbers.end(),
      [&](const PublishedNumber& number) { return IsPublishedTask(number.task, task); });
}

NumbersBeside CompareNumbers(const PublishedTable& table, const FileOutcome& outcome) {
  NumbersBeside beside;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (const PublishedNumber& number : table.numbers) {
      if (!IsPublishedTask(number.task, outcome.task)) continue;
      CompareRow(table, number, row, outcome, beside);
    }
  }
  AddAverages(table, beside);
  return beside;
}

std::string NumbersBesideText(const PublishedTable& table, const NumbersBeside& beside) {
  TextTable text({"published", "", "setting", "yours", "published", "yours less published [95 %]"});
  std::vector<std::string> remarks;
  bool only_ours = false;
  for (const NumberBeside& number : beside.numbers) {
    text.Add({number.row, number.column, number.setting, fmt::format("{:.1f}", number.ours),
              fmt::format("{:.1f}{}", number.theirs, number.marked ? "*" : ""),
              DifferenceText(number.difference, 1)});
    const std::string remark = number.column + ": " + number.data;
    const bool is_new = std::find(remarks.begin(), remarks.end(), remark) == remarks.end();
    if (!number.data.empty() && is_new) remarks.push_back(remark);
    only_ours = only_ours ||
                (std::isfinite(number.difference.interval.low) && !number.difference.both_sides);
  }
  std::string all = beside.numbers.empty() ? "" : text.Text();
  for (const std::string& why : beside.without) all += "  published " + why + "\n";
  for (const std::string& remark : remarks) all += "  published " + remark + "\n";
  if (std::any_of(table.numbers.begin(), table.numbers.end(), [](const PublishedNumber& number) {
        return number.measure == kSecondsMeasure;
      })) {
    all += "  seconds: relative to " + table.numbers.front().relative_to +
           "; the source does not state their unit\n";
  }
  if (only_ours) {
    all +=
        "  intervals hold the chance of your samples alone: the printed number is taken as "
        "exact\n";
  }
  return all;
}

nlohmann::ordered_json NumbersBesideJson(const NumbersBeside& beside) {
  nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
  for (const NumberBeside& number : beside.numbers) {
    numbers.push_back({{"label", number.row},
                       {"column", number.column},
                       {"setting", number.setting},
                       {"match", MatchName(number.match)},
                       {"yours", NumberOrNull(number.ours)},
                       {"published", NumberOrNull(number.theirs)},
                       {"difference", DifferenceJson(number.difference, 1)},
                       {"marked", number.marked}});
  }
  return numbers;
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
#include "probes/cli/commands/published_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/statistics/intervals.h"

namespace midscope::cli {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kSecondsMeasure = "seconds";
constexpr const char* kPerplexityMeasure = "perplexity";

// A number of the run that corresponds to a published one, or the reason why there is none.
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

// Returns whether the run has a single data set and the published number is for that set.
bool IsOnlySet(const PublishedNumber& number, const FileOutcome& outcome) {
  if (!outcome.sets.empty() || number.sets.size() != 1) return false;
  const std::string& set = number.sets.front();
  const std::string kind = number.task.substr(0, number.task.find(':'));
  return FileStem(outcome.task) == set || IsPublishedTask(kind + ":dataset=" + set, outcome.task);
}

RunNumber MeanOfSets(const PublishedNumber& number, const FileOutcome& outcome, size_t setting) {
  if (IsOnlySet(number, outcome)) {
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
    if (!outcome.document_perplexity.empty()) {
      return {outcome.document_perplexity[cell], outcome.document_perplexity_interval[cell], ""};
    }
    return {outcome.perplexity[cell], outcome.perplexity_interval[cell], ""};
  }
  return number.sets.empty() ? MeanOfPlaces(number, outcome, setting)
                             : MeanOfSets(number, outcome, setting);
}

// Returns the published number, divided by another row's number if the comparison is relative to
// it.
double PublishedValue(const PublishedTable& table, const PublishedNumber& number, size_t row) {
  const size_t column = table.ColumnIndex(number.column);
  const double value = table.Value(row, column);
  if (number.relative_to.empty()) return value;
  const auto base = std::find(table.rows.begin(), table.rows.end(), number.relative_to);
  return value / table.Value(static_cast<size_t>(base - table.rows.begin()), column);
}

int64_t SamplesBehind(const PublishedTable& table, const PublishedNumber& number, size_t row) {
  // Returns 0 for scores, which are not shares of samples.
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
  const std::string text = MethodText(method, outcome);
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
  if (found) return;
  beside.without.push_back(
      {table.ModelOf(row, number.column), table.rows[row] + ", " + number.column + ": " + why});
}

// Adds the published averages for which the run has all parts.
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
  return IsOfRecipe(outcome.recipe, recipe)
             ? MatchSetting(setting, MethodForRun(method, outcome.recipe))
             : PublishedMatch::kNone;
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

std::string MethodText(const PublishedMethod& method, const FileOutcome& outcome) {
  const PublishedMethod for_run = MethodForRun(method, outcome.recipe);
  const bool unknown_factor =
      !method.interpolation.empty() && for_run.settings.size() == method.settings.size();
  return MethodText(for_run) +
         (unknown_factor ? fmt::format(", or {} as a setting where {} states the context",
                                       method.interpolation, kRecipeFile)
                         : "");
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

void CheckPublishedModel(const PublishedTable& table, const std::string& model) {
  const std::vector<std::string> names = table.ModelNames();
  if (model.empty() || std::find(names.begin(), names.end(), model) != names.end()) return;
  if (names.empty()) {
    throw UsageError("option --published-model", "table " + table.name + " names no models",
                     "Leave it out");
  }
  throw UsageError("option --published-model",
                   "table " + table.name + " has no model " + Quote(model),
                   KnownWordsHint(model, names));
}

NumbersBeside CompareNumbers(const PublishedTable& table, const FileOutcome& outcome,
                             const std::string& model) {
  NumbersBeside beside;
  std::set<std::string> others;
  // A run of one data set is compared only with the published numbers of that set.
  const bool is_one_set =
      std::any_of(table.numbers.begin(), table.numbers.end(),
                  [&](const PublishedNumber& number) { return IsOnlySet(number, outcome); });
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (const PublishedNumber& number : table.numbers) {
      if (!IsPublishedTask(number.task, outcome.task)) continue;
      if (is_one_set && !IsOnlySet(number, outcome)) continue;
      const std::string& of_model = table.ModelOf(row, number.column);
      if (model.empty() || of_model == model) {
        CompareRow(table, number, row, outcome, beside);
      } else if (std::isfinite(PublishedValue(table, number, row))) {
        others.insert(of_model);
        ++beside.other_models_numbers;
      }
    }
  }
  beside.other_models = std::ssize(others);
  AddAverages(table, beside);
  return beside;
}

namespace {

// Lists the published numbers without counterpart in the run, or counts them by model.
std::string WithoutText(const PublishedTable& table, const NumbersBeside& beside) {
  std::set<std::string> models;
  for (const NumberAlone& alone : beside.without) models.insert(alone.model);
  const bool is_selected = beside.other_models_numbers > 0;
  std::string text;
  if (is_selected || table.ModelNames().size() < 2) {
    for (const NumberAlone& alone : beside.without) text += "  published " + alone.text + "\n";
  } else if (!beside.without.empty()) {
    text +=
        fmt::format("  {} of {} without counterpart in your run; --published-model NAME says why\n",
                    CountText(std::ssize(beside.without), "published number"),
                    CountText(std::ssize(models), "model"));
  }
  if (!is_selected) return text;
  return text + fmt::format("  {} of {}: --published-model\n",
                            CountText(beside.other_models_numbers, "number"),
                            CountText(beside.other_models, "other model"));
}

}  // namespace

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
  all += WithoutText(table, beside);
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

// SPDX-License-Identifier: MIT
#include "probes/cli/text/published_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/text.h"
#include "probes/cli/commands/published_numbers.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"

namespace midscope::cli {
namespace {

std::string Heading(const PublishedTable& table) {
  std::string text = table.name + ": " + table.title;
  if (!table.unit.empty()) text += " [" + table.unit + "]";
  if (table.samples > 0) text += ", " + CountText(table.samples, "sample");
  text += "\n  " + table.source + "\n";
  if (!table.bos.empty()) text += "  begin-of-text: " + table.bos + "\n";
  return text;
}

// Returns the marks and notes of the printed rows of a published table.
std::string Notes(const PublishedTable& table, const std::set<std::string>& rows) {
  std::string text;
  for (const PublishedMark& mark : table.marks) {
    if (!rows.contains(mark.row)) continue;
    text += "  * " + mark.row;
    if (!mark.column.empty()) text += ", " + mark.column;
    text += ": " + mark.note + "\n";
  }
  for (const std::string& note : table.notes) text += "  note: " + note + "\n";
  return text;
}

// Describes the prompt format stored in a file; "" if the file has none.
std::string FormatText(const FileOutcome& outcome) {
  if (outcome.bos.empty()) return "";
  const bool chat = !outcome.chat_template.empty() && outcome.chat_template != "none";
  return ", --bos " + outcome.bos +
         (chat ? ", chat template " + outcome.chat_template : ", no chat template");
}

std::string YoursText(const FileOutcome& outcome) {
  return fmt::format("  yours: {}, {}{}{}\n", outcome.task, CountText(outcome.samples, "sample"),
                     FormatText(outcome),
                     outcome.recipe.empty() ? "" : ", tuned: " + TuningRecipeText(outcome.recipe));
}

std::string Percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}", share * kPublishedPercent) : "-";
}

// Returns the mean over the places that have a value, and the gap between best and worst place.
std::vector<std::string> MeanAndGap(const std::vector<double>& shares) {
  std::vector<double> known;
  std::copy_if(shares.begin(), shares.end(), std::back_inserter(known),
               [](double share) { return std::isfinite(share); });
  if (known.empty()) return {"-", "-"};
  double sum = 0;
  for (const double share : known) sum += share;
  const auto [least, largest] = std::minmax_element(known.begin(), known.end());
  return {Percent(sum / static_cast<double>(known.size())), Percent(*largest - *least)};
}

// Returns the difference between the sweep and the published table at a place that both have.
PublishedDifference DifferenceAt(const FileOutcome& outcome, const std::string& setting,
                                 const PublishedLine& line, size_t index) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const int64_t cell = outcome.Cell(setting, line.places[index]);
  if (cell < 0) return {none, {none, none}, false};
  const auto at = static_cast<size_t>(cell);
  return DifferenceOfShares(outcome.answered[at], outcome.answered_interval[at],
                            line.accuracy[index], line.samples[index]);
}

std::vector<double> SharesAt(const FileOutcome& outcome, const std::string& setting,
                             const std::vector<int64_t>& places) {
  std::vector<double> shares;
  for (const int64_t place : places) {
    const int64_t cell = outcome.Cell(setting, place);
    shares.push_back(cell < 0 ? std::numeric_limits<double>::quiet_NaN()
                              : outcome.answered[static_cast<size_t>(cell)]);
  }
  return shares;
}

// Returns all places of the sweep and of the published table, ascending.
std::vector<int64_t> AllPlaces(const FileOutcome& outcome,
                               const std::vector<PublishedLine>& lines) {
  std::set<int64_t> places(outcome.places.begin(), outcome.places.end());
  for (const PublishedLine& line : lines) places.insert(line.places.begin(), line.places.end());
  return {places.begin(), places.end()};
}

std::optional<size_t> PlaceIndex(const PublishedLine& line, int64_t place) {
  const auto found = std::find(line.places.begin(), line.places.end(), place);
  if (found == line.places.end()) return std::nullopt;
  return static_cast<size_t>(found - line.places.begin());
}

class BesideTable {
 public:
  BesideTable(const FileOutcome& outcome, std::vector<int64_t> places)
      : outcome_(outcome), places_(std::move(places)), table_(Header(places_)) {}

  void AddOurs(const std::string& setting) {
    setting_ = setting;
    const std::vector<double> shares = SharesAt(outcome_, setting, places_);
    std::vector<std::string> row = {"yours", setting};
    for (const double share : shares) row.push_back(Percent(share));
    for (const std::string& text : MeanAndGap(shares)) row.push_back(text);
    table_.Add(row);
  }

  // Adds a row with a published line. `with_difference`: whether to compare it with the setting
  // added last. `remark`: text after the label.
  void AddPublished(const PublishedLine& line, bool with_difference,
                    const std::string& remark = "") {
    std::vector<std::string> row = {"published", line.label + remark};
    std::vector<std::string> below = {"", "yours less published"};
    bool common = false;
    for (size_t i = 0; i < places_.size(); ++i) {
      const std::optional<size_t> index = PlaceIndex(line, places_[i]);
      const double share = index ? line.accuracy[*index] : std::nan("");
      row.push_back(Percent(share) + (index && line.marked[*index] ? "*" : ""));
      const PublishedDifference difference = index ? DifferenceAt(outcome_, setting_, line, *index)
                                                   : PublishedDifference{std::nan(""), {}, false};
      below.push_back(DifferenceText(difference, kPublishedPercent));
      common = common || std::isfinite(difference.value);
    }
    for (const std::string& text : MeanAndGap(line.accuracy)) row.push_back(text);
    table_.Add(row);
    shown_.insert(line.label);
    if (!with_difference || !common) return;
    below.insert(below.end(), {"", ""});
    table_.Add(below);
  }

  std::string Text() const { return table_.Text(); }
  const std::set<std::string>& shown() const { return shown_; }

 private:
  static std::vector<std::string> Header(const std::vector<int64_t>& places) {
    std::vector<std::string> header = {"", "setting"};
    for (const int64_t place : places) header.push_back(fmt::format("place {}", place));
    header.insert(header.end(), {"mean", "gap"});
    return header;
  }

  const FileOutcome& outcome_;
  std::vector<int64_t> places_;
  TextTable table_;
  std::string setting_;
  std::set<std::string> shown_;
};

// Returns the labels, joined, of the published lines that match the setting in the way `wanted`.
std::string LabelsOf(const FileOutcome& outcome, const std::string& setting,
                     const std::vector<PublishedLine>& lines, PublishedMatch wanted,
                     bool with_method) {
  std::string text;
  for (const PublishedLine& line : lines) {
    if (MatchRun(outcome, setting, line.method, line.recipe) != wanted) continue;
    text.append(text.empty() ? "" : ", ").append(line.label);
    if (with_method) text.append(", which is ").append(MethodText(line.method));
  }
  return text;
}

// Lists the compared pairs, the settings without published counterpart, and, if `listed`, the
// published lines without counterpart in the sweep.
std::string CounterpartText(const FileOutcome& outcome, const std::vector<PublishedLine>& lines,
                            bool listed) {
  std::string text;
  for (const std::string& setting : outcome.settings) {
    const auto labels = [&](PublishedMatch wanted) {
      return LabelsOf(outcome, setting, lines, wanted, wanted == PublishedMatch::kOtherArguments);
    };
    const std::string same = labels(PublishedMatch::kSame);
    const std::string alone = labels(PublishedMatch::kMethodAlone);
    const std::string other = labels(PublishedMatch::kOtherArguments);
    text += "  yours " + setting + ": ";
    if (!same.empty()) text += "as published: " + same;
    if (!alone.empty()) {
      text += (same.empty() ? "" : "; ");
      text += "the method of " + alone + ", whose arguments the source does not state";
    }
    if (same.empty() && alone.empty()) text += "has no counterpart";
    if (!other.empty()) text += "; other arguments than " + other;
    text += "\n";
  }
  std::set<std::string> models;
  int64_t unmatched = 0;
  for (const PublishedLine& line : lines) {
    const bool met = std::any_of(
        outcome.settings.begin(), outcome.settings.end(), [&](const std::string& setting) {
          return IsOfOneSetting(MatchRun(outcome, setting, line.method, line.recipe));
        });
    if (met) continue;
    models.insert(line.model);
    ++unmatched;
    if (!listed) continue;
    if (!IsOfRecipe(outcome.recipe, line.recipe)) {
      text += "  published " + line.label + ": its model is " + TuningRecipeText(line.recipe) +
              ", yours " + TuningRecipeText(outcome.recipe) + "\n";
      continue;
    }
    const std::string method = MethodText(line.method, outcome);
    text += "  published " + line.label + ": yours has no setting of this method" +
            (method.empty() ? ", nor has this program" : " (" + method + ")") + "\n";
  }
  if (listed || unmatched == 0) return text;
  return text + fmt::format(
                    "  {} of {} without counterpart in your run; --published-model NAME says why\n",
                    CountText(unmatched, "published row"), CountText(std::ssize(models), "model"));
}

// Returns the labels of a model's rows; of all rows if no model is selected or models are columns.
std::set<std::string> RowsOfModel(const PublishedTable& table, const std::string& model) {
  std::set<std::string> rows;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const bool is_of_model =
        model.empty() || table.columns_are_models || table.ModelOf(row) == model;
    if (is_of_model) rows.insert(table.rows[row]);
  }
  return rows;
}

// Removes the lines of models other than `model` ("": none); returns a line that counts them.
std::string KeepModel(const std::string& model, std::vector<PublishedLine>& lines) {
  if (model.empty()) return "";
  std::set<std::string> others;
  const auto removed = std::erase_if(lines, [&](const PublishedLine& line) {
    if (line.model == model) return false;
    others.insert(line.model);
    return true;
  });
  if (removed == 0) return "";
  return fmt::format("  {} of {}: --published-model\n",
                     CountText(static_cast<int64_t>(removed), "row"),
                     CountText(std::ssize(others), "other model"));
}

}  // namespace

std::string PublishedListText() {
  TextTable list({"name", "title", "source", "outcomes by place"});
  for (const PublishedTable& table : PublishedTables()) {
    std::string tasks;
    for (const PublishedOutcome& outcome : table.outcomes) {
      tasks += (tasks.empty() ? "" : ", ") + outcome.task;
    }
    list.Add({table.name, table.title, table.source, tasks});
  }
  return list.Text();
}

nlohmann::ordered_json PublishedHeadJson(const PublishedTable& table) {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const PublishedOutcome& outcome : table.outcomes) tasks.push_back(outcome.task);
  return {{"name", table.name}, {"title", table.title}, {"source", table.source},
          {"bos", table.bos},   {"unit", table.unit},   {"samples", table.samples},
          {"tasks", tasks}};
}

nlohmann::ordered_json PublishedTableJson(const PublishedTable& table) {
  using Json = nlohmann::ordered_json;
  Json json = PublishedHeadJson(table);
  json["columns"] = table.columns;
  json["rows"] = Json::array();
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const PublishedMethod& method = table.MethodOf(row);
    Json values = Json::array();
    for (size_t column = 0; column < table.columns.size(); ++column) {
      values.push_back(NumberOrNull(table.Value(row, column)));
    }
    json["rows"].push_back({{"label", table.rows[row]},
                            {"method", method.term},
                            {"settings", method.settings},
                            {"cells", table.cells[row]},
                            {"values", values}});
  }
  json["marks"] = Json::array();
  for (const PublishedMark& mark : table.marks) {
    json["marks"].push_back({{"row", mark.row}, {"column", mark.column}, {"note", mark.note}});
  }
  json["notes"] = table.notes;
  return json;
}

std::string PublishedTableText(const PublishedTable& table) {
  std::vector<std::string> header = {""};
  header.insert(header.end(), table.columns.begin(), table.columns.end());
  TextTable text(header);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> cells = {table.rows[row]};
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const bool marked = !table.MarksOf(row, table.columns[column]).empty();
      cells.push_back(table.cells[row][column] + (marked ? "*" : ""));
    }
    text.Add(cells);
  }
  return Heading(table) + text.Text() + Notes(table, {table.rows.begin(), table.rows.end()});
}

std::string PublishedBesideText(const PublishedTable& table, const FileOutcome& outcome,
                                const std::string& model) {
  CheckPublishedModel(table, model);
  std::vector<PublishedLine> lines = PublishedLines(table, outcome.task);
  if (lines.empty() && HasNumbersFor(table, outcome.task)) {
    return Heading(table) + NumbersBesideText(table, CompareNumbers(table, outcome, model)) +
           Notes(table, RowsOfModel(table, model)) + YoursText(outcome);
  }
  if (lines.empty()) {
    return PublishedTableText(table) + "  nothing in it is for your task, " +
           (outcome.task.empty() ? "which the file does not state" : outcome.task) + "\n";
  }
  const std::string others = KeepModel(model, lines);
  // The run has one model; rows of other models are not listed.
  const bool listed = !model.empty() || table.ModelNames().size() < 2;
  BesideTable beside(outcome, AllPlaces(outcome, lines));
  for (const std::string& setting : outcome.settings) {
    beside.AddOurs(setting);
    for (const PublishedLine& line : lines) {
      const PublishedMatch match = MatchRun(outcome, setting, line.method, line.recipe);
      if (match == PublishedMatch::kNone) continue;
      const bool same = IsOfOneSetting(match);
      beside.AddPublished(line, same, same ? "" : " (other arguments)");
    }
  }
  const std::set<std::string> matched = beside.shown();
  for (const PublishedLine& line : lines) {
    if (listed && !matched.contains(line.label)) beside.AddPublished(line, false);
  }
  return Heading(table) + beside.Text() + CounterpartText(outcome, lines, listed) + others +
         Notes(table, beside.shown()) + YoursText(outcome);
}

nlohmann::ordered_json PublishedBesideJson(const PublishedTable& table, const FileOutcome& outcome,
                                           const std::string& model) {
  using Json = nlohmann::ordered_json;
  CheckPublishedModel(table, model);
  Json rows = Json::array();
  std::set<std::string> shown;
  std::set<std::string> matched;  // matched settings of the sweep
  std::vector<PublishedLine> lines = PublishedLines(table, outcome.task);
  KeepModel(model, lines);
  for (const PublishedLine& line : lines) {
    Json accuracy = Json::array();
    for (const double share : line.accuracy) accuracy.push_back(NumberOrNull(share));
    Json yours = Json::array();
    for (const std::string& setting : outcome.settings) {
      const PublishedMatch match = MatchRun(outcome, setting, line.method, line.recipe);
      if (match == PublishedMatch::kNone) continue;
      matched.insert(setting);
      yours.push_back({{"setting", setting}, {"match", MatchName(match)}});
      if (!IsOfOneSetting(match)) continue;
      Json differences = Json::array();
      for (size_t i = 0; i < line.places.size(); ++i) {
        differences.push_back(DifferenceJson(DifferenceAt(outcome, setting, line, i), 1));
      }
      yours.back()["differences"] = std::move(differences);
    }
    rows.push_back({{"label", line.label},
                    {"method", line.method.term},
                    {"settings", MethodForRun(line.method, outcome.recipe).settings},
                    {"yours", yours},
                    {"places", line.places},
                    {"accuracy", accuracy},
                    {"marked", line.marked}});
    shown.insert(line.label);
  }
  Json marks = Json::array();
  for (const PublishedMark& mark : table.marks) {
    if (shown.contains(mark.row)) {
      marks.push_back({{"row", mark.row}, {"column", mark.column}, {"note", mark.note}});
    }
  }
  const NumbersBeside numbers = CompareNumbers(table, outcome, model);
  Json without = Json::array();
  for (const NumberAlone& one : numbers.without) without.push_back(one.text);
  for (const NumberBeside& number : numbers.numbers) matched.insert(number.setting);
  Json alone = Json::array();
  for (const std::string& setting : outcome.settings) {
    if (!matched.contains(setting)) alone.push_back(setting);
  }
  return {{"name", table.name},
          {"source", table.source},
          {"title", table.title},
          {"rows", rows},
          {"bos", table.bos},
          {"marks", marks},
          {"notes", table.notes},
          {"without_counterpart", alone},
          {"recipe", outcome.recipe},
          {"numbers", NumbersBesideJson(numbers)},
          {"published_without_counterpart", without}};
}

}  // namespace midscope::cli

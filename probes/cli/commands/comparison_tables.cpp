// SPDX-License-Identifier: MIT
#include "probes/cli/commands/comparison_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "probes/cli/commands/file_comparison.h"
#include "probes/cli/console/text_table.h"
#include "probes/sweep/chosen_places.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// If all values are lists, removes the elements that all lists contain; other values are unchanged.
std::vector<std::string> WithoutCommon(const std::vector<std::string>& values) {
  std::vector<Json> lists;
  lists.reserve(values.size());
  for (const std::string& value : values) lists.push_back(Json::parse(value, nullptr, false));
  if (!std::all_of(lists.begin(), lists.end(), [](const Json& list) { return list.is_array(); })) {
    return values;
  }
  const auto everywhere = [&](const Json& element) {
    return std::all_of(lists.begin(), lists.end(), [&](const Json& list) {
      return std::find(list.begin(), list.end(), element) != list.end();
    });
  };
  std::vector<std::string> own;
  for (const Json& list : lists) {
    std::string text;
    for (const Json& element : list) {
      if (everywhere(element)) continue;
      text += (text.empty() ? "" : ", ") +
              (element.is_string() ? element.get<std::string>() : element.dump());
    }
    own.push_back(text.empty() ? "no other" : text);
  }
  return own;
}

std::string Shortened(const std::string& value) {
  constexpr size_t kLongest = 60;
  std::string shown = DisplayText(value);
  if (shown.size() <= kLongest) return shown;
  size_t end = kLongest - 3;
  while (end > 0 && !BeginsCharacter(shown[end])) --end;
  return shown.substr(0, end) + "...";
}

}  // namespace

std::string FileLetter(size_t file) { return {static_cast<char>('A' + file)}; }

Printout DifferentFieldsTable(const std::vector<RunReader>& readers) {
  std::vector<std::string> header = {"differs"};
  for (size_t file = 0; file < readers.size(); ++file) header.push_back(FileLetter(file));
  TextTable table(header);
  const auto fields = DifferentFields(readers);
  for (const auto& [name, values] : fields) {
    std::vector<std::string> row = {DisplayText(name)};
    for (const std::string& value : WithoutCommon(values)) row.push_back(Shortened(value));
    table.Add(row);
  }
  if (fields.empty()) return Printout("made alike: no field of plan or provenance differs\n");
  Printout text;
  text.Add("What was made differently", std::move(table));
  return text;
}

namespace {

std::string DifferenceText(const ComparedCell& cell) {
  if (!std::isfinite(cell.difference)) return "";
  if (!std::isfinite(cell.interval.low)) return fmt::format("{:.2f}", cell.difference);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", cell.difference, cell.interval.low,
                     cell.interval.high);
}

// Returns a line that names the files of other tasks, whose numbers can't be compared.
std::string OtherTasksText(const std::vector<FileOutcome>& outcomes) {
  const FileOutcome& first = outcomes.front();
  std::string text;
  for (size_t file = 1; file < outcomes.size(); ++file) {
    if (outcomes[file].asked == first.asked) continue;
    text += fmt::format("{} is not compared with A: its task is {}, A's is {}\n", FileLetter(file),
                        DisplayText(outcomes[file].task), DisplayText(first.task));
  }
  return text;
}

}  // namespace

Printout ComparedOutcomesTable(const std::vector<RunReader>& readers, const std::string& places) {
  TextTable table(
      {"setting", "place", "file", "samples", "accuracy", kAnswerNll, "difference to A [95 %]"});
  const std::vector<FileOutcome> outcomes = ReadFileOutcomes(readers);
  const std::vector<ComparedCell> cells = CompareOutcomes(readers, outcomes, places);
  std::vector<std::string> settings;
  for (const ComparedCell& cell : cells) {
    const bool known = std::find(settings.begin(), settings.end(), cell.setting) != settings.end();
    if (!known) settings.push_back(cell.setting);
  }
  const SettingLetters letters(settings);
  for (const ComparedCell& cell : cells) {
    const auto at = std::find(settings.begin(), settings.end(), cell.setting) - settings.begin();
    table.Add({DisplayText(letters.Name(static_cast<size_t>(at))), cell.place_text,
               FileLetter(cell.file), std::to_string(cell.samples),
               fmt::format("{:.2f}", cell.accuracy), fmt::format("{:.2f}", cell.answer_nll),
               DifferenceText(cell)});
  }
  Printout text;
  if (!places.empty()) {
    const FileOutcome& first = outcomes.front();
    const auto at = ParseChosenPlaces(places, first.places, first.place_texts);
    text += "over " + ChosenPlacesText(at, first.places, first.place_texts) + "\n";
  }
  text += letters.Legend();
  text.Add("Outcome by place in each file, and its difference to A", std::move(table));
  text += "difference: of answer_nll; with an interval where both files hold the same samples\n" +
          OtherTasksText(outcomes);
  return text;
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "probes/cli/commands/comparison_tables.h"
#include "probes/cli/commands/file_comparison.h"
#include "probes/cli/commands/published_numbers.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/published_text.h"
#include "probes/cli/text/record_text.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kList = "list";

// Lists the arrays whose elements differ, and the number of arrays that are not compared, with the
// reason.
std::string ArraysText(const std::vector<ComparedArray>& arrays) {
  TextTable table({"array", "file", "largest difference", "elements that differ"});
  size_t equal = 0;
  size_t different = 0;
  std::map<std::pair<size_t, std::string>, std::vector<std::string>> not_compared;
  for (const ComparedArray& array : arrays) {
    if (array.verdict == "equal") {
      ++equal;
    } else if (array.verdict == "differs") {
      ++different;
      table.Add({DisplayText(array.name), FileLetter(array.file),
                 fmt::format("{:.3g}", array.largest),
                 fmt::format("{} of {}", array.differing, array.elements)});
    } else {
      not_compared[{array.file, array.verdict}].push_back(array.name);
    }
  }
  std::string text =
      fmt::format("arrays: {} of {} are equal, {} differ\n", equal, arrays.size(), different);
  for (const auto& [why, names] : not_compared) {
    constexpr size_t kNamed = 3;
    text += fmt::format("not compared, {} ({}): {}", DisplayText(why.second), FileLetter(why.first),
                        DisplayText(names.front()));
    for (size_t i = 1; i < std::min(kNamed, names.size()); ++i)
      text += ", " + DisplayText(names[i]);
    text += names.size() > kNamed ? fmt::format(" and {} more\n", names.size() - kNamed) : "\n";
  }
  return text + (different == 0 ? "" : table.Text());
}

Json ComparisonJson(const std::vector<RunReader>& readers, bool outcomes, const std::string& places,
                    const JobContext& job) {
  Json json;
  json["files"] = Json::array();
  for (const RunReader& reader : readers) json["files"].push_back(reader.path());
  json["different_fields"] = Json::object();
  for (const auto& [name, values] : DifferentFields(readers)) {
    json["different_fields"][name] = values;
  }
  json["rows"] = Json::array();
  if (outcomes) {
    for (const ComparedCell& cell : CompareOutcomes(readers, ReadFileOutcomes(readers), places)) {
      json["rows"].push_back({{"setting", cell.setting},
                              {"place", cell.is_mean ? Json() : Json(cell.place)},
                              {"place_text", cell.place_text},
                              {"file", cell.file},
                              {"samples", cell.samples},
                              {"accuracy", NumberOrNull(cell.accuracy)},
                              {kAnswerNll, NumberOrNull(cell.answer_nll)},
                              {"difference", NumberOrNull(cell.difference)},
                              {"difference_low", NumberOrNull(cell.interval.low)},
                              {"difference_high", NumberOrNull(cell.interval.high)}});
    }
  }
  json["arrays"] = Json::array();
  for (const ComparedArray& array : CompareArrays(readers, job)) {
    json["arrays"].push_back({{"name", array.name},
                              {"file", array.file},
                              {"verdict", array.verdict},
                              {"largest_difference", NumberOrNull(array.largest)},
                              {"differing", array.differing},
                              {"elements", array.elements}});
  }
  return json;
}

std::vector<const PublishedTable*> AllPublishedTables() {
  std::vector<const PublishedTable*> tables;
  for (const PublishedTable& table : PublishedTables()) tables.push_back(&table);
  return tables;
}

// Returns the requested published tables; of a table with several parts, those for the file's task.
std::vector<const PublishedTable*> RequestedTables(const std::string& name,
                                                   const FileOutcome& outcome) {
  std::vector<const PublishedTable*> tables = FindPublishedTables(name);
  const auto fits = [&](const PublishedTable* table) {
    return !PublishedLines(*table, outcome.task).empty() || HasNumbersFor(*table, outcome.task);
  };
  if (std::any_of(tables.begin(), tables.end(), fits)) {
    std::erase_if(tables, [&](const PublishedTable* table) { return !fits(table); });
  }
  return tables;
}

void ComparePublished(const CommandInput& input, const std::vector<RunReader>& readers) {
  const std::string& name = input.options.Text("published");
  const std::string& model = input.options.Text("published-model");
  Json json = Json::array();
  for (const RunReader& reader : readers) {
    const FileOutcome outcome = ReadFileOutcome(reader);
    if (!input.options.Flag("json")) input.out << FittedLines(FileLine(reader));
    for (const PublishedTable* table : RequestedTables(name, outcome)) {
      if (input.options.Flag("json")) {
        json.push_back(PublishedBesideJson(*table, outcome, model));
        json.back()["file"] = reader.path();
      } else {
        input.out << FittedLines(PublishedBesideText(*table, outcome, model));
      }
    }
  }
  if (input.options.Flag("json"))
    input.out << Json{{"published", json}}.dump(2, ' ', false, Json::error_handler_t::replace)
              << "\n";
}

// Prints the list of published tables, or whole tables.
void PrintPublished(const std::string& name, bool as_json, std::ostream& out) {
  const bool list = name == kList;
  if (list && !as_json) {
    out << FittedLines(PublishedListText());
    return;
  }
  Json tables = Json::array();
  for (const PublishedTable* table : list ? AllPublishedTables() : FindPublishedTables(name)) {
    if (as_json) {
      tables.push_back(list ? PublishedHeadJson(*table) : PublishedTableJson(*table));
    } else {
      out << FittedLines(PublishedTableText(*table));
    }
  }
  if (as_json) out << Json{{"published", tables}}.dump(2) << "\n";
}

void RunCompare(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::vector<std::string>& files = options.TextList("files");
  const std::string& published = options.Text("published");
  if (options.IsSet("published-model") && (published.empty() || files.empty())) {
    throw UsageError("option --published-model", "it needs a file and a table to compare with",
                     "Give FILE --published NAME too, or leave it out");
  }
  if (published == kList || (files.empty() && !published.empty())) {
    PrintPublished(published, options.Flag("json"), input.out);
    return;
  }
  if (files.size() < 2 && published.empty()) {
    throw UsageError("FILES", "there is nothing to compare with",
                     "Give two files or more, or --published NAME");
  }
  if (files.size() > kMostLetters) throw UsageError("FILES", "more than 26 are too many at once");
  std::vector<RunReader> readers;
  readers.reserve(files.size());
  for (const std::string& file : files) readers.emplace_back(file);
  if (!published.empty()) {
    if (options.IsSet("places")) {
      throw UsageError("option --places", "it has no effect with --published", "Give one of them");
    }
    ComparePublished(input, readers);
    return;
  }
  const bool outcomes = std::all_of(readers.begin(), readers.end(), HasOutcome);
  const std::string& places = options.Text("places");
  if (!places.empty() && !outcomes) {
    throw UsageError("option --places", "not all files are files of midscope sweep",
                     "Leave the option out");
  }
  if (options.Flag("json")) {
    input.out << ComparisonJson(readers, outcomes, places, input.job)
                     .dump(2, ' ', false, Json::error_handler_t::replace)
              << "\n";
    return;
  }
  for (size_t file = 0; file < readers.size(); ++file) {
    input.out << FittedLines(FileLetter(file) + "  " + FileLine(readers[file]));
  }
  input.out << FittedLines(DifferentFieldsTable(readers).Text());
  if (outcomes) input.out << FittedLines(ComparedOutcomesTable(readers, places).Text());
  input.out << FittedLines(ArraysText(CompareArrays(readers, input.job)));
}

}  // namespace

Command CompareCommand() {
  Parameter files = TextListParameter("files", "two files of results or more");
  Command command;
  command.name = "compare";
  command.summary = "files of results side by side, or beside published tables";
  command.description =
      "Lists how files were made differently, the outcomes of sweeps side by side (with\n"
      "intervals of the paired difference where both hold the same samples), and whether their\n"
      "arrays are equal. With --published, the accuracy by place is listed with a paper's table,\n"
      "whose doubtful cells are marked by *. Settings are matched with all arguments to those of\n"
      "the source; settings without counterpart are listed.";
  command.positionals = {"files"};
  command.options = {
      files,
      TextParameter("published",
                    "a published table by name; list: what there is; without files: the "
                    "table itself"),
      TextParameter("published-model",
                    "with --published: the model of the table whose rows are compared, such as "
                    "'Vicuna-7B'; default: all models"),
      ChosenPlacesOption(), JsonOption()};
  command.options = WithBrief(std::move(command.options), {"files", "places", "published", "json"});
  command.examples =
      "  midscope compare run.h5 other.h5\n"
      "  midscope compare run.h5 other.h5 --places 10,15,20\n"
      "  midscope compare --published list\n"
      "  midscope compare run.h5 --published mspoe-t2\n"
      "  midscope compare run.h5 --published mspoe-t1 --published-model 'Vicuna-7B'";
  command.run = RunCompare;
  return command;
}

}  // namespace midscope::cli

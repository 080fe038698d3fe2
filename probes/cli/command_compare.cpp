// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/utf8.h"
#include "probes/cli/command.h"
#include "probes/cli/file_comparison.h"
#include "probes/cli/published_text.h"
#include "probes/cli/record_values.h"
#include "probes/cli/stored_file.h"
#include "probes/cli/text_table.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostFiles = 26;  // they are called A to Z
constexpr const char* kList = "list";

std::string Letter(size_t file) { return {static_cast<char>('A' + file)}; }

std::string FieldsText(const std::vector<RunReader>& readers) {
  std::vector<std::string> header = {"differs"};
  for (size_t file = 0; file < readers.size(); ++file) header.push_back(Letter(file));
  TextTable table(header);
  constexpr size_t kLongest = 60;
  const auto fields = DifferentFields(readers);
  for (const auto& [name, values] : fields) {
    std::vector<std::string> row = {DisplayText(name)};
    for (const std::string& value : values) {
      const std::string shown = DisplayText(value);
      row.push_back(shown.size() <= kLongest ? shown : fmt::format("({} bytes)", value.size()));
    }
    table.Add(row);
  }
  return fields.empty() ? "made alike: no field of plan or provenance differs\n" : table.Text();
}

std::string DifferenceText(const ComparedCell& cell) {
  if (!std::isfinite(cell.difference)) return "";
  if (!std::isfinite(cell.interval.low)) return fmt::format("{:.2f}", cell.difference);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", cell.difference, cell.interval.low,
                     cell.interval.high);
}

std::string OutcomesText(const std::vector<RunReader>& readers) {
  TextTable table(
      {"setting", "place", "file", "samples", "accuracy", "answer_nll", "difference to A [95 %]"});
  for (const ComparedCell& cell : CompareOutcomes(readers)) {
    table.Add({DisplayText(cell.setting), std::to_string(cell.place), Letter(cell.file),
               std::to_string(cell.samples), fmt::format("{:.2f}", cell.accuracy),
               fmt::format("{:.2f}", cell.answer_nll), DifferenceText(cell)});
  }
  return table.Text() +
         "difference: of answer_nll; with an interval where both files hold the same samples\n";
}

std::string ArraysText(const std::vector<ComparedArray>& arrays) {
  TextTable table({"array", "file", "to A", "largest difference", "elements that differ"});
  size_t equal = 0;
  for (const ComparedArray& array : arrays) {
    if (array.verdict == "equal") {
      ++equal;
      continue;
    }
    const bool values = array.elements > 0;
    table.Add({DisplayText(array.name), Letter(array.file), DisplayText(array.verdict),
               values ? fmt::format("{:.3g}", array.largest) : "",
               values ? fmt::format("{} of {}", array.differing, array.elements) : ""});
  }
  return fmt::format("arrays: {} of {} are equal\n", equal, arrays.size()) +
         (equal == arrays.size() ? "" : table.Text());
}

Json ComparisonJson(const std::vector<RunReader>& readers, bool outcomes, const JobContext& job) {
  Json json;
  json["files"] = Json::array();
  for (const RunReader& reader : readers) json["files"].push_back(reader.path());
  json["different_fields"] = Json::object();
  for (const auto& [name, values] : DifferentFields(readers)) {
    json["different_fields"][name] = values;
  }
  json["rows"] = Json::array();
  if (outcomes) {
    for (const ComparedCell& cell : CompareOutcomes(readers)) {
      json["rows"].push_back({{"setting", cell.setting},
                              {"place", cell.place},
                              {"file", cell.file},
                              {"samples", cell.samples},
                              {"accuracy", NumberOrNull(cell.accuracy)},
                              {"answer_nll", NumberOrNull(cell.answer_nll)},
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

// The tables that were asked for; of several halves of one table those about the file's task.
std::vector<const PublishedTable*> AskedTables(const std::string& name,
                                               const FileOutcome& outcome) {
  std::vector<const PublishedTable*> tables = FindPublishedTables(name);
  const auto fits = [&](const PublishedTable* table) {
    return !PublishedLines(*table, outcome.task).empty();
  };
  if (std::any_of(tables.begin(), tables.end(), fits)) {
    std::erase_if(tables, [&](const PublishedTable* table) { return !fits(table); });
  }
  return tables;
}

void ComparePublished(const CommandInput& input, const std::vector<RunReader>& readers) {
  const std::string& name = input.options.Text("published");
  Json json = Json::array();
  for (const RunReader& reader : readers) {
    const FileOutcome outcome = ReadFileOutcome(reader);
    if (!input.options.Flag("json")) input.out << FileLine(reader) << "\n";
    for (const PublishedTable* table : AskedTables(name, outcome)) {
      if (input.options.Flag("json")) {
        json.push_back(PublishedBesideJson(*table, outcome));
        json.back()["file"] = reader.path();
      } else {
        input.out << PublishedBesideText(*table, outcome);
      }
    }
  }
  if (input.options.Flag("json"))
    input.out << Json{{"published", json}}.dump(2, ' ', false, Json::error_handler_t::replace)
              << "\n";
}

void RunCompare(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::vector<std::string>& files = options.TextList("files");
  const std::string& published = options.Text("published");
  if (published == kList) {
    input.out << PublishedListText();
    return;
  }
  if (files.empty() && !published.empty()) {
    for (const PublishedTable* table : FindPublishedTables(published)) {
      input.out << PublishedTableText(*table);
    }
    return;
  }
  if (files.size() < 2 && published.empty()) {
    throw UsageError("FILES", "there is nothing to compare with",
                     "Give two files or more, or --published NAME");
  }
  if (files.size() > kMostFiles) throw UsageError("FILES", "more than 26 are too many at once");
  std::vector<RunReader> readers;
  readers.reserve(files.size());
  for (const std::string& file : files) readers.emplace_back(file);
  if (!published.empty()) {
    ComparePublished(input, readers);
    return;
  }
  const bool outcomes = std::all_of(readers.begin(), readers.end(), HasOutcome);
  if (options.Flag("json")) {
    input.out << ComparisonJson(readers, outcomes, input.job)
                     .dump(2, ' ', false, Json::error_handler_t::replace)
              << "\n";
    return;
  }
  for (size_t file = 0; file < readers.size(); ++file) {
    input.out << Letter(file) << "  " << FileLine(readers[file]) << "\n";
  }
  input.out << FieldsText(readers);
  if (outcomes) input.out << OutcomesText(readers);
  input.out << ArraysText(CompareArrays(readers, input.job));
}

}  // namespace

Command CompareCommand() {
  OptionDescription files = TextListOption("files", "two files of results or more");
  Command command;
  command.name = "compare";
  command.summary = "files of results side by side, or beside published tables";
  command.description =
      "Says how files were made differently, sets the outcomes of sweeps side by side (with\n"
      "intervals of the paired difference where both hold the same samples), and whether their\n"
      "arrays are equal. With --published, the accuracy by place stands beside a table of a "
      "paper,\n"
      "cells that are known to be doubtful marked by *. Settings are matched whole, arguments and\n"
      "all, to what the source says that it ran; what has no counterpart is said.";
  command.positionals = {"files"};
  command.options = {
      files,
      TextOption("published",
                 "a published table by name; list: what there is; without files: the "
                 "table itself"),
      JsonOption()};
  command.examples =
      "  midscope compare run.h5 other.h5\n"
      "  midscope compare --published list\n"
      "  midscope compare run.h5 --published mspoe-t2";
  command.run = RunCompare;
  return command;
}

}  // namespace midscope::cli

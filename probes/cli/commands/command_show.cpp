// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/utf8.h"
#include "data/export/export.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/stored_result.h"

namespace midscope::cli {
namespace {

// Returns the JSON in one line with a space after each comma and colon, at which it can be wrapped.
std::string SpacedJson(const nlohmann::ordered_json& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += nlohmann::ordered_json(name).dump() + ": ";
    text += SpacedJson(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// Returns JSON text in one line with a space after each comma and colon; text that is not a JSON
// object is unchanged.
std::string SpacedJson(const std::string& text) {
  if (!text.starts_with('{')) return text;
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  return json.is_object() ? SpacedJson(json) : text;
}

std::string ProvenanceText(const Provenance& provenance) {
  std::string text = "provenance:\n";
  ForEachField(provenance, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (!value.empty())
        text.append("  ").append(name).append(" ") += DisplayText(SpacedJson(value)) + "\n";
    } else {
      text.append("  ").append(name).append(" ") += fmt::format("{}\n", value);
    }
  });
  return text;
}

// Returns one line per member of a plan in JSON.
std::string PlanText(const std::string& plan_json) {
  if (plan_json.empty()) return "";
  const auto plan = nlohmann::ordered_json::parse(plan_json, nullptr, false);
  if (!plan.is_object()) return "plan:\n  " + DisplayText(plan_json) + "\n";
  std::string text = "plan:\n";
  for (const auto& [name, value] : plan.items()) {
    text += fmt::format("  {} {}\n", DisplayText(name), DisplayText(SpacedJson(value)));
  }
  return text;
}

// Returns the text for a whole file: the output of the command that wrote it or, for other files,
// short arrays as tables and other arrays as one line each.
std::string WholeFileText(const RunReader& reader, size_t top, const JobContext& job) {
  std::string text = FileLine(reader) + "\n";
  const std::string table = PrintedTable(reader, job);
  if (!table.empty()) text += "\n" + table + "\n";
  for (const std::string& name : reader.record_names()) {
    const SummarisedRecord read = ReadSummarised(reader, name);
    text += RecordText(read.record, top) + read.large;
  }
  return text + PlanText(reader.plan_json()) + ProvenanceText(reader.provenance());
}

// Returns the members of the JSON that `sweep --json` printed, without the outer braces; "" for
// files of other commands and for sweeps whose plan this version cannot read.
std::string SweepMembers(const RunReader& reader, const std::string& places,
                         const JobContext& job) {
  if (!IsStoredSweep(reader)) return "";
  try {
    if (StoredPlan(reader).scan) return "";
    const std::string json = SweepJson({StoredReport(reader, places, job)});
    return json.substr(1, json.rfind('}') - 1);
  } catch (const Error&) {
    if (!places.empty()) throw;
    return "";
  }
}

// Returns the tables of a sweep over the chosen places only.
std::string ChosenPlacesTable(const RunReader& reader, const std::string& places,
                              const JobContext& job) {
  return FileLine(reader) + "\n\n" + SweepText({StoredReport(reader, places, job)});
}

// Throws Error (usage) if the file has no sweep by places, for option --places.
void CheckHasPlaces(const RunReader& reader) {
  if (IsStoredSweep(reader) && !StoredPlan(reader).scan) return;
  throw UsageError("option --places", reader.path() + " is not a file of midscope sweep",
                   "Leave the option out, or give a sweep's file");
}

bool NamesOneArray(const std::string& inside) { return inside.find('/') != std::string::npos; }

void RunShow(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& address = options.Text("file");
  const std::vector<std::string> slices = ReadSlices(options);
  const auto top = static_cast<size_t>(options.Integer("top"));
  const RunAddress parsed = ParseRunAddress(address);
  const std::string& places = options.Text("places");
  const bool whole = parsed.inside.empty() && slices.empty();
  if (!places.empty()) {
    if (!whole) {
      throw UsageError("option --places", "it applies to a whole file",
                       "Name the file alone, without --slice");
    }
    CheckHasPlaces(RunReader(parsed.path));
  }
  if (whole && !options.Flag("json")) {
    const RunReader reader(parsed.path);
    input.out << FittedLines(places.empty() ? WholeFileText(reader, top, input.job)
                                            : ChosenPlacesTable(reader, places, input.job));
    return;
  }
  const RunFile file = ReadRecords(address, slices);
  const bool one_array = NamesOneArray(file.inside);
  if (options.Flag("json")) {
    const std::string members =
        whole ? SweepMembers(RunReader(parsed.path), places, input.job) : std::string();
    WriteJson(file.records, file.provenance, input.out, members);
    return;
  }
  for (const Record& record : file.records) {
    if (!one_array) {
      input.out << FittedLines(RecordText(record, top));
      continue;
    }
    const Array& array = record.arrays.front();
    const std::string heads = options.IsSet("top") ? LargestHeadsText(record, array, top) : "";
    input.out << FittedLines(heads.empty() ? ArrayText(record, array, top) : heads);
  }
}

}  // namespace

Command ShowCommand() {
  Command command;
  command.name = "show";
  command.summary = "what a file of results holds, or at an address in it";
  command.description =
      "Prints the table that midscope sweep or channels printed, the file's provenance and "
      "records;\n"
      "or one record, or the values of one array. Of a large array a part is read alone where\n"
      "--slice names it. Ranks are printed from 1 on; --json, --slice and files count those of\n"
      "answer_rank and head_rank from 0.";
  command.positionals = {"file"};
  command.options = {
      AddressOption("file", "a file of results, or FILE.h5::RECORD or ::RECORD/ARRAY"),
      SliceOption(), ChosenPlacesOption(),
      WholeNumberParameter(
          "top", "how many of the largest heads are listed, of arrays over layers and heads", 1,
          100000, static_cast<int64_t>(kHeadsShown)),
      JsonOption()};
  command.options =
      WithBrief(std::move(command.options), {"file", "places", "slice", "top", "json"});
  command.examples =
      "  midscope show run.h5\n"
      "  midscope show run.h5 --places 10,15,20\n"
      "  midscope show run.h5::/entry/outcome_means/accuracy\n"
      "  midscope show heads.h5::retrieval_heads_mean/mean_retrieval_score --top 20\n"
      "  midscope show run.h5::sweep/last_query_attention --slice sample=7 --slice layer=12 \\\n"
      "      --slice head=0-3";
  command.run = RunShow;
  return command;
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "data/export/export.h"
#include "data/store/provenance_fields.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"

namespace midscope::cli {
namespace {

// For larger arrays, only the shape is shown, because reading them to compute their mean would take
// seconds.
constexpr int64_t kLargestSummarised = int64_t{1} << 24;

int64_t Elements(const Record& record, const Array& array) {
  int64_t count = 1;
  for (const std::string& axis : array.axes) count *= record.FindAxis(axis)->size;
  return count;
}

std::string ProvenanceText(const Provenance& provenance) {
  std::string text = "provenance:\n";
  ForEachField(provenance, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (!value.empty()) text.append("  ").append(name).append(" ") += DisplayText(value) + "\n";
    } else {
      text.append("  ").append(name).append(" ") += fmt::format("{}\n", value);
    }
  });
  return text;
}

// Returns the text for a whole file: the output of the command that wrote it; short arrays as
// tables, the others as one line each.
std::string WholeFileText(const RunReader& reader, size_t top, const JobContext& job) {
  std::string text = FileLine(reader) + "\n";
  const std::string table = PrintedTable(reader, job);
  if (!table.empty()) text += "\n" + table + "\n";
  text += ProvenanceText(reader.provenance());
  if (!reader.plan_json().empty()) text += "plan:\n  " + DisplayText(reader.plan_json()) + "\n";
  for (const std::string& name : reader.record_names()) {
    Record record = reader.Describe(name);
    std::string large;
    std::erase_if(record.arrays, [&](const Array& array) {
      if (Elements(record, array) <= kLargestSummarised) return false;
      large += fmt::format("  {} {}: {} elements, see a part with --slice\n", array.name,
                           ShapeText(record, array), Elements(record, array));
      return true;
    });
    for (Array& array : record.arrays) array = reader.ReadArray(name, array.name);
    if (!record.FindArray(record.signal)) record.signal.clear();
    text += RecordText(record, top) + large;
  }
  return text;
}

bool NamesOneArray(const std::string& inside) { return inside.find('/') != std::string::npos; }

void RunShow(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& address = options.Text("file");
  const std::vector<std::string> slices = ReadSlices(options);
  const auto top = static_cast<size_t>(options.Integer("top"));
  const RunAddress parsed = ParseRunAddress(address);
  if (parsed.inside.empty() && slices.empty() && !options.Flag("json")) {
    input.out << WholeFileText(RunReader(parsed.path), top, input.job);
    return;
  }
  const RunFile file = ReadRecords(address, slices);
  if (options.Flag("json")) {
    WriteJson(file.records, file.provenance, input.out);
    return;
  }
  for (const Record& record : file.records) {
    if (!NamesOneArray(parsed.inside)) {
      input.out << RecordText(record, top);
      continue;
    }
    const Array& array = record.arrays.front();
    const std::string heads = options.IsSet("top") ? LargestHeadsText(record, array, top) : "";
    input.out << (heads.empty() ? ArrayText(record, array, top) : heads);
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
      SliceOption(),
      WholeNumberParameter(
          "top", "how many of the largest heads are listed, of arrays over layers and heads", 1,
          100000, static_cast<int64_t>(kHeadsShown)),
      JsonOption()};
  command.examples =
      "  midscope show run.h5\n"
      "  midscope show run.h5::/entry/outcome_means/accuracy\n"
      "  midscope show heads.h5::retrieval_heads_mean/mean_retrieval_score --top 20\n"
      "  midscope show run.h5::sweep/last_query_attention --slice sample=7 --slice layer=12 \\\n"
      "      --slice head=0-3";
  command.run = RunShow;
  return command;
}

}  // namespace midscope::cli

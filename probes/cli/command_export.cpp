// SPDX-License-Identifier: MIT
#include <utility>

#include "data/export.h"
#include "data/record_reader.h"
#include "probes/cli/command.h"
#include "probes/cli/export_table.h"
#include "probes/cli/output.h"

namespace midscope::cli {
namespace {

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void RunExport(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& file = options.Text("out");
  if (!file.empty()) {
    CheckOutputPath(file, options.Flag("overwrite"), "Give --overwrite, or another --out");
  }
  const bool json =
      options.IsSet("format") ? options.Text("format") == "json" : EndsWith(file, ".json");
  RunFile run = ReadRecords(options.Text("file"));
  if (options.IsSet("array")) {
    PickedArray picked = PickArray(run.records, options.Text("array"));
    for (const std::string& other : picked.also) {
      input.job.Log("export: taken from record " + picked.record.name + "; there is " + other +
                    " too");
    }
    run.records = {std::move(picked.record)};
  }
  const auto write = [&](std::ostream& out) {
    if (json) {
      WriteJson(run.records, run.provenance, out);
    } else {
      WriteCsv(MergeRecords(run.records), out);
    }
  };
  if (file.empty()) {
    write(input.out);
  } else {
    WriteTextFile(file, write);
  }
}

}  // namespace

Command ExportCommand() {
  OptionDescription file =
      OutOption("a file of probe or sweep, or FILE.h5::RECORD or ::RECORD/ARRAY");
  file.name = "file";
  file.required = true;
  OptionDescription format;
  format.name = "format";
  format.type = OptionType::kChoice;
  format.choices = {"csv", "json"};
  format.help = "csv: one row an element; json: nested lists; by default csv, or as --out ends";

  Command command;
  command.name = "export";
  command.summary = "what a file holds, as CSV or JSON";
  command.description =
      "Writes the arrays of an HDF5 file of Midscope as text. CSV is in long form, with a column\n"
      "for every axis; NaN is an empty cell (CSV) or null (JSON).";
  command.positionals = {"file"};
  command.options = {file, format, TextOption("array", "this array alone: NAME or RECORD/NAME"),
                     OutOption("the file to write; standard output where it is left out"),
                     FlagOption("overwrite", "replace the file where it exists")};
  command.examples =
      "  midscope export run.h5 --array answer_nll --out run.csv\n"
      "  midscope export run.h5 --array outcome_means/accuracy\n"
      "  midscope export france.h5 --format json --out france.json";
  command.run = RunExport;
  return command;
}

}  // namespace midscope::cli

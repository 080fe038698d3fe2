// SPDX-License-Identifier: MIT
#include <utility>

#include "core/error.h"
#include "data/export.h"
#include "data/npz.h"
#include "data/record_reader.h"
#include "probes/cli/command.h"
#include "probes/cli/export_table.h"
#include "probes/cli/output.h"
#include "probes/cli/picture_program.h"
#include "probes/cli/stored_file.h"

namespace midscope::cli {
namespace {

const std::vector<std::string>& Formats() {
  static const std::vector<std::string> formats = {"csv", "json", "npz", "png", "svg", "pdf"};
  return formats;
}

bool IsPicture(const std::string& format) {
  return format == "png" || format == "svg" || format == "pdf";
}

// As asked, or as --out ends, or CSV.
std::string Format(const OptionSet& options) {
  if (options.IsSet("format")) return options.Text("format");
  for (const std::string& format : Formats()) {
    if (options.Text("out").ends_with("." + format) && !IsPicture(format)) return format;
  }
  return Formats().front();
}

void ExportPictures(const OptionSet& options, const std::string& format) {
  if (options.Text("out").empty()) {
    throw UsageError("option --out", "it must be given for pictures: a folder",
                     "Give --out FOLDER");
  }
  if (options.IsSet("slice") || options.IsSet("array")) {
    throw UsageError("option --format", "pictures are of all records of a file",
                     "Leave --slice and --array away; FILE.h5::RECORD draws one record");
  }
  DrawPictures(options.Text("file"), options.Text("out"), format);
}

void RunExport(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string format = Format(options);
  if (IsPicture(format)) {
    input.out.flush();
    ExportPictures(options, format);
    return;
  }
  const std::string& file = options.Text("out");
  if (!file.empty()) {
    CheckOutputPath(file, options.Flag("overwrite"), "Give --overwrite, or another --out");
  } else if (format == "npz") {
    throw UsageError("option --out", "NPZ is no text for a terminal", "Give --out FILE.npz");
  }
  RunFile run = ReadRecords(options.Text("file"), options.TextList("slice"));
  if (options.IsSet("array")) {
    PickedArray picked = PickArray(run.records, options.Text("array"));
    for (const std::string& other : picked.also) {
      input.job.Log("export: taken from record " + picked.record.name + "; there is " + other +
                    " too");
    }
    run.records = {std::move(picked.record)};
  }
  const auto write = [&](std::ostream& out) {
    if (format == "json") {
      WriteJson(run.records, run.provenance, out);
    } else if (format == "npz") {
      WriteNpz(MergeRecords(run.records), out);
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
  OptionDescription format;
  format.name = "format";
  format.type = OptionType::kChoice;
  format.choices = Formats();
  format.help =
      "csv: one row an element; json: nested lists; npz: for numpy.load; png, svg, pdf: the "
      "window's pictures, into the folder --out; by default csv, or as --out ends";

  Command command;
  command.name = "export";
  command.summary = "what a file holds, as CSV, JSON, NPZ or pictures";
  command.description =
      "Writes the arrays of an HDF5 file of Midscope for other programs. CSV is in long form, with "
      "a\n"
      "column for every axis; NaN is an empty cell (CSV) or null (JSON). NPZ holds each array and\n"
      "each axis under its name. Pictures are drawn by midscope-gui, without a display.";
  command.positionals = {"file"};
  command.options = {
      AddressOption("file", "a file of results, or FILE.h5::RECORD or ::RECORD/ARRAY"),
      format,
      SliceOption(),
      TextOption("array", "this array alone: NAME or RECORD/NAME"),
      OutOption("the file to write; standard output where it is left out"),
      FlagOption("overwrite", "replace the file where it exists")};
  command.examples =
      "  midscope export run.h5 --array answer_nll --out run.csv\n"
      "  midscope export run.h5 --array outcome_means/accuracy\n"
      "  midscope export run.h5::sweep/last_query_attention --slice sample=7 --out seven.npz\n"
      "  midscope export run.h5 --format svg --out pictures\n"
      "  midscope export france.h5 --format json --out france.json";
  command.run = RunExport;
  return command;
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "data/export/export.h"
#include "data/export/npz.h"
#include "data/store/record_reader.h"
#include "probes/base/private_folder.h"
#include "probes/cli/commands/drawn_pictures.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/export_table.h"

namespace midscope::cli {

namespace {

const std::vector<std::string>& Formats() {
  static const std::vector<std::string> formats = {"csv", "json", "npz", "gguf",
                                                   "png", "svg",  "pdf"};
  return formats;
}

// Format of a control vector for llama.cpp.
constexpr const char* kControlVector = "gguf";

bool IsPicture(const std::string& format) {
  return format == "png" || format == "svg" || format == "pdf";
}

// Returns the extension of a file's name, without the dot: "csv".
std::string Ending(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension.empty() ? "" : extension.substr(1);
}

bool IsFormat(const std::string& ending) {
  return std::find(Formats().begin(), Formats().end(), ending) != Formats().end();
}

// Returns the format from --format, else from the extension of --out, else CSV.
std::string Format(const OptionSet& options) {
  const std::string& out = options.Text("out");
  std::string ending = Ending(out);
  if (options.IsSet("format")) {
    const std::string& format = options.Text("format");
    if (IsFormat(ending) && ending != format) {
      throw UsageError("option --out",
                       "'" + out + "' ends in ." + ending + ", --format is " + format,
                       "Leave --format away, or give another name");
    }
    return format;
  }
  if (ending.empty()) return Formats().front();
  if (IsFormat(ending)) return ending;
  throw UsageError(
      "option --out", "'" + out + "' ends in ." + ending + ", which is not a known format",
      "Give --format, or a name that ends in .csv, .json, .npz, .gguf, .png, .svg or .pdf");
}

// Returns the target paths of the files `names` (pictures, and their numbers as CSV): in the folder
// `out` or, for one picture, the file `out` and a CSV beside it. If there are several pictures and
// `out` has the name of one of them, reduces `names` to that one.
std::vector<std::filesystem::path> Targets(const std::string& out, bool one_file,
                                           std::vector<std::string>& names) {
  std::vector<std::filesystem::path> targets;
  const std::filesystem::path wanted = std::filesystem::path(out).filename();
  if (one_file && std::ranges::find(names, wanted.string()) != names.end()) {
    std::erase_if(names,
                  [&](const std::filesystem::path& name) { return name.stem() != wanted.stem(); });
  }
  if (one_file && names.size() == 2) {
    for (const std::string& name : names) {
      targets.push_back(std::filesystem::path(out).replace_extension(Ending(name)));
    }
    return targets;
  }
  if (one_file) {
    std::erase_if(names, [&](const std::string& name) { return Ending(name) != Ending(out); });
    throw UsageError(
        "option --out",
        fmt::format("'{}' is one picture, and the file has {}: {}", out, names.size(),
                    fmt::join(names, ", ")),
        "Give --out FOLDER with --format, or name one of them: --out " + names.front());
  }
  targets.reserve(names.size());
  for (const std::string& name : names) targets.push_back(std::filesystem::path(out) / name);
  return targets;
}

// Returns the lines of a picture's CSV file that contain numbers, without comments, which state the
// picture's format.
std::string NumbersIn(const std::filesystem::path& file) {
  std::ifstream lines(file);
  std::string numbers;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) numbers.append(line).append("\n");
  }
  return numbers;
}

bool SameNumbers(const std::filesystem::path& made, const std::filesystem::path& there) {
  std::error_code error;
  return std::filesystem::is_regular_file(there, error) && NumbersIn(made) == NumbersIn(there);
}

// Writes pictures and returns their paths.
std::vector<std::string> ExportPictures(const OptionSet& options, const std::string& format,
                                        const JobContext& job) {
  const std::string& out = options.Text("out");
  if (out.empty()) {
    throw UsageError("option --out", "it must be given for pictures: a folder",
                     "Give --out FOLDER");
  }
  if (options.IsSet("slice") || options.IsSet("array")) {
    throw UsageError("option --format", "pictures are of all records of a file",
                     "Leave --slice and --array away; FILE.h5::RECORD draws one record");
  }
  const bool one_file = Ending(out) == format && !std::filesystem::is_directory(out);
  if (one_file) {
    CheckOutputPath(out, options.Flag("overwrite"), "Give --overwrite, or another --out");
  } else {
    MakeFolder(out, "Give another --out");
  }
  std::filesystem::path beside = out;
  if (one_file) beside = beside.has_parent_path() ? beside.parent_path() : ".";
  const PrivateFolder drawn(beside, ".midscope-pictures-");
  std::vector<std::string> names = DrawPictures(
      {options.Text("file"), format, options.Text("head"), options.TextList("reference")},
      drawn.path().string(), job);
  const std::vector<std::filesystem::path> targets = Targets(out, one_file, names);
  for (size_t i = 0; i < names.size(); ++i) {
    // The CSV is the same for every format of the picture, so it may already exist.
    if (Ending(names[i]) == "csv" && SameNumbers(drawn.path() / names[i], targets[i])) continue;
    CheckOutputPath(targets[i].string(), options.Flag("overwrite"),
                    "Give --overwrite, or another --out");
  }
  std::vector<std::string> written;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::filesystem::path made = drawn.path() / names[i];
    if (std::filesystem::is_symlink(targets[i])) {
      std::filesystem::copy_file(made, targets[i],
                                 std::filesystem::copy_options::overwrite_existing);
    } else {
      std::filesystem::rename(made, targets[i]);
    }
    written.push_back(targets[i].string());
  }
  return written;
}

// Writes tables and arrays to --out; returns "" if they went to standard output.
std::string ExportArrays(const CommandInput& input, const std::string& format) {
  const OptionSet& options = input.options;
  const std::string& file = options.Text("out");
  CheckOutOption(options);
  if (file.empty() && (format == "npz" || format == kControlVector)) {
    throw UsageError("option --out",
                     "it must be given: " + format + " is binary and is not printed to a terminal",
                     "Give --out FILE." + format);
  }
  RunFile run = ReadRecords(options.Text("file"), ReadSlices(options));
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
    } else if (format == kControlVector) {
      const Record record = MergeRecords(run.records);
      out << ControlVectorBytes(ControlVectorOf(record, run.provenance.architecture));
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
  return file;
}

void RunExport(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string format = Format(options);
  if (options.Flag("json") && options.Text("out").empty()) {
    throw UsageError("option --json", "it describes written files, and needs --out",
                     "For the data as JSON give --format json");
  }
  std::vector<std::string> written;
  if (IsPicture(format)) {
    written = ExportPictures(options, format, input.job);
  } else if (options.IsSet("reference")) {
    throw UsageError("option --reference", "it is shown beside the outcome in pictures",
                     "Give --format png, svg or pdf, or leave it out");
  } else if (options.IsSet("head")) {
    throw UsageError("option --head", "it chooses the heads of pictures",
                     "Give --format png, svg or pdf, or leave it out");
  } else if (std::string file = ExportArrays(input, format); !file.empty()) {
    written.push_back(std::move(file));
  }
  if (options.Flag("json")) {
    input.out << nlohmann::ordered_json{{"format", format}, {"files", written}}.dump(2) << "\n";
    return;
  }
  for (const std::string& file : written) input.out << FileNote(file);
}

}  // namespace

Command ExportCommand() {
  Parameter format;
  format.name = "format";
  format.kind = ParameterKind::kChoice;
  format.choices = Formats();
  format.help =
      "csv: one row an element, or of several arrays over one axis one row a position; json: "
      "nested "
      "lists; npz: for numpy.load; gguf: a control vector for llama.cpp and the term vector; png, "
      "svg, pdf: the window's pictures, into the folder --out, or "
      "where there is one into that file; by default as --out ends, or csv";

  Command command;
  command.name = "export";
  command.summary = "what a file holds, as CSV, JSON, NPZ, GGUF or pictures";
  command.description =
      "Writes the arrays of an HDF5 file of Midscope for other programs. CSV is in long form,\n"
      "with one column per axis; several arrays that are all over one axis have one row per\n"
      "position and one column per array. NaN is an empty cell (CSV) or null (JSON). NPZ holds\n"
      "each array and each axis under its name; where several have one name, those after the\n"
      "first are RECORD.NAME.\n"
      "GGUF is a control vector: of an array [layer, channel], row N is added after block N, from "
      "0;\n"
      "layer 0 is left out, as llama.cpp takes none there.\n"
      "Pictures are drawn by midscope-gui, without a display: of all records, or of one, such as\n"
      "FILE.h5::last_query_attention. The numbers of each are stored beside it as CSV, with its\n"
      "caption and the commands that made file and picture. Of several pictures,\n"
      "--out NAME.png takes the one of that name.";
  command.positionals = {"file"};
  command.options = {
      AddressOption("file", "a file of results, or FILE.h5::RECORD or ::RECORD/ARRAY"),
      format,
      SliceOption(),
      TextParameter("array", "this array alone: NAME or RECORD/NAME"),
      OutOption("the file to write; standard output where it is left out"),
      TextListParameter("reference",
                        "pictures: file of midscope sweep whose means are drawn beside the "
                        "outcome, or of midscope tune or influence beside another; may be "
                        "repeated"),
      TextParameter("head",
                    "pictures: heads whose rows are drawn, as L12H3 or L12H3,L14H0; by place, "
                    "each is a row of one figure. Default: the head with the most attention on the "
                    "gold"),
      FlagParameter("overwrite", "replace files that exist"),
      FlagParameter("json", "print as JSON which files were written")};
  command.options = WithBrief(std::move(command.options), {"file", "format", "array", "slice",
                                                           "reference", "out", "overwrite"});
  command.examples =
      "  midscope export run.h5 --array answer_nll --out run.csv\n"
      "  midscope export run.h5 --array outcome_means/accuracy\n"
      "  midscope export run.h5::sweep/last_query_attention --slice sample=7 --out seven.npz\n"
      "  midscope export direction.h5 --array position_direction --out position.gguf\n"
      "  midscope export run.h5 --format svg --out pictures\n"
      "  midscope export heads.h5 --head L15H8,L23H2 --format png --out pictures\n"
      "  midscope export probe.h5::last_query_attention --format png --out pictures\n"
      "  midscope export documents.h5 --format svg --out pictures --reference closed_book.h5 "
      "--reference oracle.h5\n"
      "  midscope export france.h5 --format json --out france.json";
  command.run = RunExport;
  return command;
}

}  // namespace midscope::cli

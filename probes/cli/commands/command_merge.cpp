// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "data/store/record_reader.h"
#include "data/store/unfinished_files.h"
#include "data/sweep/sweep_merge.h"
#include "data/sweep/sweep_virtual.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/sweep/merged_means.h"

namespace midscope::cli {
namespace {

// Returns whether a results file is complete: it has no journal and does not refer to other files.
bool IsWholeWord(const std::string& file) {
  if (HasJournal(file)) return false;
  return !std::filesystem::exists(file) || RunReader(file).parts().empty();
}

void RunMerge(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& out = options.Text("out");
  std::vector<std::string> files = options.TextList("files");
  if (const std::vector<std::string> parts = RankParts(files.front());
      files.size() == 1 && !parts.empty() && !std::filesystem::exists(files.front())) {
    files = parts;  // parts of a killed job of several processes
  } else if (files.size() == 1 && IsWholeWord(files.front())) {
    const bool exists = std::filesystem::exists(out);
    throw UsageError("FILES",
                     "one file is nothing to join" +
                         (exists ? "; the first, " + out + ", is the one to write, and it exists"
                                 : std::string()),
                     "Give two or more behind the file to write: midscope merge NEW.h5 A.h5 B.h5");
  }
  CheckOutputPath(out, options.Flag("overwrite"), "Give --overwrite, or another OUT");
  const SweepMerge merge(files);
  if (options.Flag("virtual")) {
    WriteVirtualSweep(out, merge, merge.provenance(), MergedSummaries(merge, input.job));
  } else {
    merge.Write(out, merge.provenance(), MergedSummaries(merge, input.job));
  }
  if (options.Flag("json")) {
    input.out << nlohmann::ordered_json{{"file", out},
                                        {"files", files},
                                        {"samples", merge.samples().size()},
                                        {"failed_samples", merge.failures().size()},
                                        {"joined", JoinedMemberName(merge.joined())},
                                        {"virtual", options.Flag("virtual")}}
                     .dump(2)
              << "\n";
    return;
  }
  input.out << fmt::format("{}: {} of {}, {} joined; {} failed{}\n", out,
                           CountText(std::ssize(merge.samples()), "sample"),
                           CountText(std::ssize(files), "file"), JoinedMemberName(merge.joined()),
                           merge.failures().size(),
                           options.Flag("virtual") ? "; what is large stays in them" : "")
            << FileNote(out);
}

}  // namespace

Command MergeCommand() {
  Parameter out = OutOption("the file to write");
  out.required = true;
  Parameter files =
      TextListParameter("files", "files of sweeps; one alone if it is virtual or has a journal");
  files.required = true;
  Command command;
  command.name = "merge";
  command.summary = "several files of sweeps as one";
  command.description =
      "Joins files of one plan that hold other samples (parts of a cluster job, each with the\n"
      "journal beside it, or of an array job by sweep --sample), files of other seeds, whose\n"
      "samples are numbered on in the order of the files, or files that hold other settings of "
      "the\n"
      "same samples. Means and intervals are computed anew. Plans that differ otherwise are "
      "refused.\n"
      "Without --virtual all is copied: OUT is complete, the inputs can be deleted. With it OUT is "
      "small\n"
      "and made at once: tables are written, attention rows and texts stay in the inputs (HDF5\n"
      "virtual data sets; they must be in OUT's folder), for Midscope, h5py and xarray to read "
      "as\n"
      "one file.\n"
      "Choose it where attention rows are many and the inputs stay where they are, as they are:\n"
      "Midscope refuses OUT when one is missing or has changed, other readers give NaN in "
      "silence.\n"
      "Samples in a journal are first written into a file: midscope merge NEW.h5 FILE. So are the\n"
      "parts of a job of several processes that was killed: midscope merge NEW.h5 RUN.h5.\n"
      "A virtual file, such as a sweep by several processes writes, is copied into a complete\n"
      "one: midscope merge ONE.h5 RUN.h5.";
  command.positionals = {"out", "files"};
  command.options = {
      out, files,
      FlagParameter("virtual", "point into the files, copying no attention rows and no texts"),
      FlagParameter("overwrite", "replace OUT where it exists"), JsonOption()};
  command.options =
      WithBrief(std::move(command.options), {"out", "files", "virtual", "overwrite", "json"});
  command.examples =
      "  midscope merge all.h5 run.h5 run.h5.rank1 run.h5.rank2\n"
      "  midscope merge --virtual all.h5 part1.h5 part2.h5\n"
      "  midscope merge both.h5 none.h5 scaled.h5";
  command.run = RunMerge;
  return command;
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "core/error.h"
#include "data/sweep_merge.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/merged_means.h"

namespace midscope::cli {
namespace {

void RunMerge(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& out = options.Text("out");
  const std::vector<std::string>& files = options.TextList("files");
  if (files.size() < 2) {
    throw UsageError("FILES", "one file is nothing to join", "Give two or more");
  }
  CheckOutputPath(out, options.Flag("overwrite"), "Give --overwrite, or another OUT");
  const SweepMerge merge(files);
  merge.Write(out, merge.provenance(), MergedSummaries(merge));
  input.out << fmt::format(
      "{}: {} samples of {} files, {} joined; {} failed\n", out, merge.samples().size(),
      files.size(), merge.joins_settings() ? "settings" : "samples", merge.failures().size());
}

}  // namespace

Command MergeCommand() {
  OptionDescription out = OutOption("the file to write");
  out.required = true;
  OptionDescription files = TextListOption("files", "two files of sweeps or more");
  files.required = true;
  Command command;
  command.name = "merge";
  command.summary = "several files of sweeps as one";
  command.description =
      "Joins files of one plan that hold other samples (parts of a cluster job, each with the\n"
      "journal beside it), or files that hold other settings of the same samples. Means and\n"
      "intervals are computed anew. Plans that differ otherwise are refused.";
  command.positionals = {"out", "files"};
  command.options = {out, files, FlagOption("overwrite", "replace OUT where it exists")};
  command.examples =
      "  midscope merge all.h5 run.h5 run.h5.rank1 run.h5.rank2\n"
      "  midscope merge both.h5 none.h5 scaled.h5";
  command.run = RunMerge;
  return command;
}

}  // namespace midscope::cli

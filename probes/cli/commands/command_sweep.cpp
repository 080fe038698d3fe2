// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/sweep_command_run.h"
#include "probes/cli/commands/sweep_dry_run.h"
#include "probes/cli/commands/sweep_options.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {
namespace {

void Print(const OptionSet& options, const std::vector<CellReport>& reports, std::ostream& out) {
  if (options.Flag("json")) {
    out << SweepJson(reports);
    return;
  }
  out << FittedLines(SweepText(reports));
  for (const CellReport& report : reports) out << FileNote(report.file);
}

CellReport Report(SweepCommandRun& run, const SweepCell& cell, const std::string& file,
                  const OptionSet& options, const CommandInput& input) {
  const FinishedSweep sweep =
      run.Run(cell, file, [&](const SweepPlan& plan, const SweepResult& so_far) {
        Print(options, {MakeReport(cell, "", plan, so_far)}, input.out);
      });
  // Tests in a file have been computed already: neither report their progress again nor interrupt
  // them.
  const JobContext job = file.empty() ? input.job : JobContext();
  return MakeReport(cell, file, sweep.plan, sweep.result, job);
}

// With --add, sets options that are not given to those in the file; settings, places and samples
// are joined later.
void TakeFromFile(OptionSet& options) {
  const std::string& out = options.Text("out");
  std::error_code ignored;
  if (!options.Flag("add") || !std::filesystem::is_regular_file(out, ignored)) return;
  const SweepPlan stored = StoredPlan(RunReader(out));
  if (!options.IsSet("task")) options.Set("task", std::vector<std::string>{stored.task});
  if (!options.IsSet("seed")) options.Set("seed", std::to_string(stored.seed));
}

void RunSweepCommand(const CommandInput& input) {
  OptionSet options = WithPlan(input.options);
  TakeFromFile(options);
  CheckSweepOptions(options);
  const std::vector<SweepCell> cells = CellsOf(options);
  if (options.Flag("dry-run")) {
    input.out << FittedLines(DryRunText(options, cells, input.job));
    return;
  }
  const std::vector<std::string> files = SweepFiles(options, cells);
  RankGroup& ranks = *(input.ranks = JoinRankGroup());
  const JobContext job = RankJob(input.job, ranks.rank());
  // All ranks check the files before any rank creates one, which another rank could mistake for a
  // file of an earlier job.
  ranks.Agree([&] { CheckSweepFiles(options, files, ranks.size()); });
  SweepCommandRun run(options, input, job, ranks);
  if (cells.size() == 1) {
    const CellReport report = Report(run, cells.front(), files.front(), options, input);
    if (ranks.rank() != 0) return;
    Print(options, {report}, input.out);
    CheckAllSamples(report.failed_samples);
    return;
  }
  // If a cell of the grid fails, the others are still run.
  std::vector<CellReport> reports;
  std::string first_failure;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string name =
        fmt::format("model {}, task {}, seed {}", cells[i].model, cells[i].task, cells[i].seed);
    if (ranks.rank() == 0)
      input.job.Log(fmt::format("sweep {} of {}: {}", i + 1, cells.size(), name));
    try {
      reports.push_back(Report(run, cells[i], files[i], options, input));
    } catch (const Error& error) {
      NoteFailedCell(name, error, ranks, input.job, first_failure);
    }
  }
  if (ranks.rank() != 0) return;
  Print(options, reports, input.out);
  if (!options.Text("out").empty()) {
    const auto summary = std::filesystem::path(options.Text("out")) / "summary.json";
    WriteTextFile(summary.string(), [&](std::ostream& out) { out << SweepJson(reports); });
  }
  if (!first_failure.empty()) {
    throw Failure(fmt::format("{} of {} sweeps", cells.size() - reports.size(), cells.size()),
                  "they failed; the first: " + first_failure);
  }
  for (const CellReport& report : reports) CheckAllSamples(report.failed_samples);
}

}  // namespace

Command SweepCommand() {
  Command command;
  command.name = "sweep";
  command.summary = "answers' scores by place of the gold piece and setting";
  command.description =
      "Runs the same samples at every place under every setting, and prints accuracy and the\n"
      "answer's negative log-likelihood with 95 % intervals, gaps between places and\n"
      "tests of places and settings. Finished samples are stored at once; Ctrl-C leaves a file "
      "that\n"
      "opens, and --resume continues it. Several models, tasks, sizes or seeds are sweeps of\n"
      "their own, each in a file of the folder --out, with one table of all.";
  command.positionals = {"model"};
  command.options = SweepOptions();
  command.options = WithBrief(std::move(command.options),
                              {"model", "task", "places", "samples", "seed", "with", "control",
                               "score", "out", "resume", "json", "dry-run"});
  command.examples =
      "  midscope sweep embedded --samples 10\n"
      "  midscope sweep embedded --task list:lines=20 --places 1,5,10,15,20 --samples 40 --seed 1 "
      "\\\n"
      "      --with none --with 'channel(100, factor=-1, layers=8-25)' --control --out run.h5\n"
      "  midscope sweep embedded --task kv:pairs=10 --with none --with 'pi(1.5)' --json\n"
      "  midscope sweep embedded --task 'list:lines={size}' --size 10,20,40 --seed 1-3 --out runs\n"
      "  midscope sweep --plan plan.toml --dry-run --ranks 64";
  command.run = RunSweepCommand;
  command.is_shared = [](const OptionSet& options) { return !options.Flag("dry-run"); };
  return command;
}

}  // namespace midscope::cli

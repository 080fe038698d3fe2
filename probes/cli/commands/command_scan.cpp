// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/model/model_source.h"
#include "core/terms/intervention_text.h"
#include "probes/cli/commands/sweep_command_run.h"
#include "probes/cli/commands/sweep_dry_run.h"
#include "probes/cli/commands/sweep_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/scan_text.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/sweep/scan_effects.h"

namespace midscope::cli {
namespace {

// Options of `sweep` that do not apply to a scan, which makes its own settings and has only one
// file.
constexpr const char* kNotOfScans[] = {"also", "size",      "with", "control", "score",
                                       "add",  "attention", "plan", "watch"};

std::vector<Parameter> ScanOptions() {
  std::vector<Parameter> options = SweepOptions();
  std::erase_if(options, [](const Parameter& option) {
    return std::find(std::begin(kNotOfScans), std::end(kNotOfScans), option.name) !=
           std::end(kNotOfScans);
  });
  options.front().required = true;
  for (Parameter& option : options) {
    if (option.name == "task") option.help = "the task (see midscope help tasks)";
    if (option.name == "seed") option.help = "what samples and permutations are drawn by";
    if (option.name == "out") option.help = "the HDF5 file to write";
  }
  std::vector<Parameter> own = ScanParameters();
  own.push_back(TextParameter(
      "base", "setting under which all items run; effects are differences from it (default none)"));
  own.push_back(WholeNumberParameter("top", "how many of the largest to print", 1, 100000, 10));
  own = InGroup("Scan", std::move(own));
  options.insert(options.begin() + 1, own.begin(), own.end());
  return options;
}

// Converts the options of `scan` to those of `sweep`.
OptionSet SweepOptionsOf(const OptionSet& options) {
  OptionSet sweep(SweepOptions());
  for (const Parameter& option : sweep.descriptions()) {
    const auto& own = options.descriptions();
    const bool shared = option.name != "with" &&
                        std::any_of(own.begin(), own.end(), [&](const Parameter& parameter) {
                          return parameter.name == option.name;
                        });
    if (shared && options.IsSet(option.name)) sweep.Set(option.name, options.Value(option.name));
  }
  sweep.Set("score", std::string("likelihood"));
  sweep.Set("watch", int64_t{0});
  return sweep;
}

void Print(const OptionSet& options, const SweepPlan& plan, const SweepResult& result,
           const std::string& file, std::ostream& out, const JobContext& job) {
  const ScanEffects effects = ScanEffectsOf(plan, result.outcomes, job);
  const PromptCuts cuts = PromptCutsOf(plan, result.outcomes);
  if (options.Flag("json")) {
    out << ScanEffectsJson(plan, effects, cuts);
    return;
  }
  out << FittedLines(ScanTables(plan, effects, cuts, options.Integer("top")).Text())
      << FileNote(file);
}

void RunScanCommand(const CommandInput& input) {
  const ScanRange range = ReadScanRange(input.options);
  OptionSet options = SweepOptionsOf(input.options);
  CheckSweepOptions(options);
  for (const std::string& task : options.TextList("task")) {
    if (task.find("{size}") == std::string::npos) continue;
    throw UsageError("task " + Quote(task), "{size} must be a number: a scan has one task",
                     "Write the number, such as list:lines=20");
  }
  const std::vector<SweepCell> cells = CellsOf(options);
  if (cells.size() != 1) {
    throw UsageError("scan", "several tasks or seeds are given", "Run a scan for each");
  }
  const ScanKind& kind = FindScanKind(input.options.Text("over"));
  const Intervention base =
      ParseIntervention(input.options.IsSet("base") ? input.options.Text("base") : "none");
  const auto make_scan = [&](const ModelConfig& config) {
    Scan scan = MakeScan(kind, input.options.Text("with"), range, config);
    scan.base = base.empty() ? std::string() : PrintIntervention(base);
    return scan;
  };
  if (options.Flag("dry-run")) {
    options.Set("with", ScanSettings(make_scan(OpenModel(cells.front().model)->config())));
    input.out << FittedLines(DryRunText(options, cells, input.job));
    return;
  }
  const std::vector<std::string> files = SweepFiles(options, cells);
  RankGroup& ranks = *(input.ranks = JoinRankGroup());
  const JobContext job = RankJob(input.job, ranks.rank());
  ranks.Agree([&] { CheckSweepFiles(options, files, ranks.size()); });
  SweepCommandRun run(options, input, job, ranks, make_scan);
  const auto print_part = [&](const SweepPlan& plan, const SweepResult& so_far) {
    Print(input.options, plan, so_far, "", input.out, {});
  };
  const FinishedSweep scan = run.Run(cells.front(), files.front(), print_part);
  if (ranks.rank() != 0) return;
  Print(input.options, scan.plan, scan.result, files.front(), input.out, job);
  CheckAllSamples(FailedSamplesText(scan.result));
}

}  // namespace

Command ScanCommand() {
  Command command;
  command.name = "scan";
  command.summary = "which heads, layers, channels or passages matter, by place of the gold piece";
  command.description =
      "Applies a term to every head (group, layer, channel, passage) in turn, on the same samples\n"
      "at every place, and prints where the answer suffers most, with 95 % intervals and tests\n"
      "that are adjusted for all of them. Terms that change the last rows alone (rows=answer) run\n"
      "as rows of one batch and cost a fraction of a run each. The file is a sweep's, with record\n"
      "scan: effect [layer, head, place]; --resume and mpirun work as with sweep.";
  command.positionals = {"model"};
  command.options = ScanOptions();
  command.options =
      WithBrief(std::move(command.options), {"model", "task", "over", "layers", "with", "base",
                                             "places", "samples", "seed", "out", "resume", "json"});
  command.examples =
      "  midscope scan embedded --task list:lines=20 --places 1,10,20 --samples 8 --layers 8-11\n"
      "  midscope scan embedded --over channels --channels 96-103 --with "
      "'channel({channel}, factor=-1, layers=8-25)' --samples 4\n"
      "  midscope scan embedded --over heads --with 'temperature({head}, 2, rows=answer)' "
      "--samples 4 "
      "--json\n"
      "  midscope scan embedded --over layers --base 'pi(1.5)' --samples 4";
  command.run = RunScanCommand;
  command.is_shared = [](const OptionSet& options) { return !options.Flag("dry-run"); };
  return command;
}

}  // namespace midscope::cli

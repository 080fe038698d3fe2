// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/intervention/intervention_text.h"
#include "core/model/model_source.h"
#include "probes/base/number_list.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/cli/scan_text.h"
#include "probes/cli/sweep_command_run.h"
#include "probes/cli/sweep_dry_run.h"
#include "probes/cli/sweep_files.h"
#include "probes/cli/sweep_options.h"
#include "probes/sweep/scan_effects.h"

namespace midscope::cli {
namespace {

// Options of `sweep` that a scan has no use for: its settings are its own, and it has one file.
constexpr const char* kNotOfScans[] = {"also", "size",      "with", "control", "score",
                                       "add",  "attention", "plan", "watch"};

bool Takes(const ScanKind& kind, const std::string& option) {
  return std::find(kind.options.begin(), kind.options.end(), option) != kind.options.end();
}

std::vector<Parameter> ScanOptions() {
  std::vector<Parameter> options = SweepOptions();
  std::erase_if(options, [](const Parameter& option) {
    return std::find(std::begin(kNotOfScans), std::end(kNotOfScans), option.name) !=
           std::end(kNotOfScans);
  });
  options.front().required = true;
  std::vector<std::string> kinds;
  const auto of_kinds = [](const std::string& option) {
    std::string text;
    for (const ScanKind& kind : ScanKinds()) {
      if (Takes(kind, option)) text += (text.empty() ? "of " : ", ") + kind.name;
    }
    return text;
  };
  std::string what = "what to go over";
  std::string terms = "the term that is scanned, with a placeholder; default";
  for (const ScanKind& kind : ScanKinds()) {
    kinds.push_back(kind.name);
    what += (kinds.size() == 1 ? ": " : ", ") + kind.name + " (" + kind.help + ")";
    terms += (kinds.size() == 1 ? ": " : ", ") + kind.term;
  }
  const std::vector<Parameter> own = InGroup(
      "Scan",
      {ChoiceParameter("over", what, kinds), TextParameter("with", terms),
       TextParameter("layers", of_kinds("layers") + ": 8-25; default: all"),
       TextParameter("channels", of_kinds("channels") + ": 96-103,215; default: all"),
       TextParameter("pairs", of_kinds("pairs") + ": 0-7,31; default: all"),
       TextListParameter("span", of_kinds("span") +
                                     ": the name of a passage, may be given more than once; "
                                     "default: gold, question, of layer_spans last too"),
       WholeNumberParameter("top", "how many of the largest to print", 1, 100000, 10)});
  options.insert(options.begin() + 1, own.begin(), own.end());
  return options;
}

// The options as a sweep has them.
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

// Throws Error (usage) for an option of another kind than the one that is scanned.
void CheckKindOptions(const OptionSet& options) {
  const ScanKind& kind = FindScanKind(options.Text("over"));
  for (const ScanKind& other : ScanKinds()) {
    for (const std::string& option : other.options) {
      if (Takes(kind, option) || !options.IsSet(option)) continue;
      throw UsageError("option --" + option, "it has no effect with --over " + kind.name,
                       "Leave it out");
    }
  }
}

ScanRange RangeOf(const OptionSet& options) {
  ScanRange range;
  if (options.IsSet("layers")) {
    // Read as the terms read it.
    const std::string text = "channel(0, factor=1, layers=" + options.Text("layers") + ")";
    range.layers = ParseIntervention(text).channels.front().layers;
  }
  const auto numbers = [&](const char* option) {
    if (!options.IsSet(option)) return std::vector<int64_t>();
    return ParseNumberList(std::string("option --") + option, options.Text(option), 0,
                           std::numeric_limits<int64_t>::max());
  };
  range.channels = numbers("channels");
  range.rotary_pairs = numbers("pairs");
  range.spans = options.TextList("span");
  if (range.spans.empty()) {
    range.spans = {"gold", "question"};
    if (options.Text("over") == "layer_spans") range.spans.emplace_back("last");
  }
  return range;
}

void Print(const OptionSet& options, const SweepPlan& plan, const SweepResult& result,
           const std::string& file, std::ostream& out) {
  const ScanEffects effects = ScanEffectsOf(plan, result.outcomes);
  if (options.Flag("json")) {
    out << ScanEffectsJson(plan, effects);
    return;
  }
  out << ScanText(plan, effects, options.Integer("top")) << FileNote(file);
}

void RunScanCommand(const CommandInput& input) {
  CheckKindOptions(input.options);
  OptionSet options = SweepOptionsOf(input.options);
  CheckSweepOptions(options);
  const std::vector<SweepCell> cells = CellsOf(options);
  if (cells.size() != 1) {
    throw UsageError("scan", "several tasks or seeds are given", "Run a scan for each");
  }
  const ScanKind& kind = FindScanKind(input.options.Text("over"));
  const ScanRange range = RangeOf(input.options);
  const auto make_scan = [&](const ModelConfig& config) {
    return MakeScan(kind, input.options.Text("with"), range, config);
  };
  if (options.Flag("dry-run")) {
    options.Set("with", ScanSettings(make_scan(OpenModel(cells.front().model)->config())));
    input.out << DryRunText(options, cells, input.job);
    return;
  }
  const std::vector<std::string> files = SweepFiles(options, cells);
  const std::unique_ptr<RankGroup> ranks = JoinRankGroup();
  const JobContext job = RankJob(input.job, ranks->rank());
  CheckSweepFiles(options, files, ranks->size());
  ranks->Barrier();
  SweepCommandRun run(options, input, job, *ranks, make_scan);
  const auto print_part = [&](const SweepPlan& plan, const SweepResult& so_far) {
    Print(input.options, plan, so_far, "", input.out);
  };
  const FinishedSweep scan = run.Run(cells.front(), files.front(), print_part);
  if (ranks->rank() == 0) Print(input.options, scan.plan, scan.result, files.front(), input.out);
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
  command.examples =
      "  midscope scan embedded --task list:lines=20 --places 1,10,20 --samples 8 --layers 8-11\n"
      "  midscope scan embedded --over channels --channels 96-103 --with "
      "'channel({channel}, factor=-1, layers=8-25)' --samples 4\n"
      "  midscope scan embedded --over heads --with 'temperature({head}, 2, rows=answer)' "
      "--samples 4 "
      "--json";
  command.run = RunScanCommand;
  return command;
}

}  // namespace midscope::cli

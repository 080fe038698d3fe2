// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>

#include "core/error.h"
#include "core/passage.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/cli/sweep_table.h"
#include "probes/model_options.h"
#include "probes/provenance.h"
#include "probes/sweep.h"
#include "probes/task_prompt.h"

namespace midscope::cli {
namespace {

std::vector<SweepSetting> ReadSettings(const OptionSet& options) {
  std::vector<SweepSetting> settings;
  for (const std::string& text : options.TextList("with")) settings.push_back(ReadSetting(text));
  return settings;
}

// What can be told before a model is loaded.
void CheckFile(const OptionSet& options) {
  const std::string& file = options.Text("out");
  if (file.empty()) {
    if (options.Flag("resume")) {
      throw UsageError("option --resume", "there is no file to go on in", "Give --out RUN.h5");
    }
    if (options.Flag("attention")) {
      throw UsageError("option --attention", "it is kept in a file only", "Give --out RUN.h5");
    }
    return;
  }
  CheckOutputPath(file, options.Flag("resume"), "Give --resume to go on, or another --out");
}

// RunSweep, with what is left behind when it is cancelled.
SweepResult RunOrExplain(const SweepRun& run, const OptionSet& options, const JobContext& job) {
  try {
    return RunSweep(run, job);
  } catch (const Cancelled&) {
    if (!run.store) throw;
    throw Interrupted(
        fmt::format("sweep interrupted: {} of {} samples are in {}. The same command with --resume "
                    "goes on",
                    run.store->finished().size(), run.plan.samples, options.Text("out")));
  }
}

// A passage that prompts do not have is told before there is a file: sample 0 stands for all.
void CheckPassages(const SweepRun& run) {
  for (const SweepSetting& setting : run.plan.settings) {
    if (WithAnyPassages(setting.intervention) == setting.intervention) continue;
    for (const TaskQuestion& question : run.questions(0)) {
      ResolvePassages(setting.intervention, question.prompt);
    }
  }
}

void RunSweepCommand(const CommandInput& input) {
  const OptionSet& options = input.options;
  SweepRun run;
  run.plan.settings = ReadSettings(options);
  CheckFile(options);
  run.decoder = Decoder::Open(options.Text("model"), ReadDecoderOptions(options), input.job);
  const Tokenizer& tokenizer = run.decoder->tokenizer();
  run.plan.seed = static_cast<uint64_t>(options.Integer("seed"));
  const auto task = MakeTaskFor(tokenizer, options.Text("task"), run.plan.seed);
  run.plan.task = task->name();
  run.plan.samples = options.Integer("samples");
  run.plan.places = ReadPlaces(options.Text("places"), *task);
  run.plan.attention = options.Flag("attention");
  CheckSettings(run.plan.settings, run.decoder->config());
  run.checkpoint_samples = options.Integer("checkpoint");
  run.questions = [&](int64_t sample) {
    return TaskQuestions(tokenizer, *task, run.plan.places, sample, run.plan.format);
  };
  CheckPassages(run);
  std::optional<SweepStore> store;
  if (!options.Text("out").empty()) {
    SweepStoreOptions store_options;
    store_options.resume = options.Flag("resume");
    const Provenance provenance =
        MakeProvenance(*run.decoder, input.command_line, options.Integer("seed"), options.ToJson());
    store = SweepStore::Create(options.Text("out"), PlanJson(run.plan, *run.decoder), provenance,
                               store_options);
    run.store = &*store;
  }
  const SweepResult result = RunOrExplain(run, options, input.job);
  const std::vector<CellStatistics> cells = Summarise(run.plan, result);
  input.out << (options.Flag("json") ? SweepJson(run.plan, cells) : SweepText(run.plan, cells));
}

std::vector<OptionDescription> SweepOptions() {
  std::vector<OptionDescription> options = ModelOptions();
  OptionDescription task = TextOption("task", "what is asked (see midscope help tasks)");
  task.default_value = std::string("list:lines=20");
  OptionDescription with =
      WithOption("a setting, may be given more than once; differences are taken to the first");
  with.default_value = std::vector<std::string>{"none"};
  const std::vector<OptionDescription> more = {
      task,
      TextOption("places",
                 "ranks of the gold piece, such as 1,5,10 or 1-20; default: first, quarter, "
                 "middle, three quarters, last"),
      IntegerOption("samples", "how many samples, each at every place under every setting", 1,
                    1000000, 40),
      IntegerOption("seed", "what samples and bootstrap are drawn by", 0, kNoMaximum, 1),
      with,
      OutOption("the HDF5 file to write"),
      FlagOption("resume", "go on in the file of an interrupted sweep"),
      FlagOption("attention",
                 "keep last-query attention [sample, layer, head, key], of the first setting at "
                 "the first place"),
      IntegerOption("checkpoint", "samples after which the file is brought up to date", 1, 1000000,
                    20),
      JsonOption()};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

Command SweepCommand() {
  Command command;
  command.name = "sweep";
  command.summary = "how well answers come out, by place of the gold piece and setting";
  command.description =
      "Asks the same samples at every place under every setting, and prints accuracy and the\n"
      "answer's negative log-likelihood with 95 % bootstrap intervals. Finished samples are safe\n"
      "at once; Ctrl-C leaves a file that opens, and --resume goes on in it.";
  command.positionals = {"model"};
  command.options = SweepOptions();
  command.examples =
      "  midscope sweep embedded --samples 10\n"
      "  midscope sweep embedded --task list:lines=20 --places 1,5,10,15,20 --samples 40 --seed 1 "
      "\\\n"
      "      --with none --with 'channel(100, factor=-1, layers=8-25)' --out run.h5\n"
      "  midscope sweep embedded --task kv:pairs=10 --with none --with 'pi(1.5)' --json";
  command.run = RunSweepCommand;
  return command;
}

}  // namespace midscope::cli

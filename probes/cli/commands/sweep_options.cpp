// SPDX-License-Identifier: MIT
#include "probes/cli/commands/sweep_options.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "data/sweep/rank_parts.h"
#include "data/sweep/sweep_lock.h"
#include "data/sweep/sweep_store.h"
#include "probes/base/number_list.h"
#include "probes/cli/commands/plan_file.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/model/model_options.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {
namespace {

std::vector<Parameter> SweepModelOptions() {
  std::vector<Parameter> options = ModelOptions();
  // The model is not required on the command line, because a plan file may set it.
  options.front().required = false;
  const Parameter also =
      TextListParameter("also",
                        "another model to ask the same, may be given more than once; --adapter "
                        "does not apply to it, but 'MODEL adapter=FOLDER' is a model, too");
  options.insert(options.begin() + 1, also);
  return InGroup("Model", options);
}

std::vector<Parameter> TaskOptions() {
  Parameter task = TextListParameter(
      "task",
      "the task (see midscope help tasks), may be given more than once; {size} in it is replaced "
      "by the numbers of --size");
  task.default_value = std::vector<std::string>{"list:lines=20"};
  Parameter seed = TextParameter(
      "seed",
      "what samples, controls, bootstrap and permutations are drawn by; several such as "
      "1,2,5 or 1-5 are sweeps of their own");
  seed.default_value = std::string("1");
  return InGroup(
      "Task",
      {task, TextParameter("size", "numbers for {size} in --task, such as 10,20,40"),
       PlacesOption("", "default: first, quarter, middle, three quarters, last; all of 5 or fewer"),
       WholeNumberParameter(
           "samples",
           "how many samples, each at every place under every setting; 0: all that "
           "the task has",
           0, 1000000, 40),
       WholeNumberParameter("sample",
                            "number of the first sample, from 0 on, for jobs that share a sweep; "
                            "midscope merge joins their files",
                            0, 1000000000, 0),
       seed});
}

std::vector<Parameter> SettingOptions() {
  Parameter with =
      WithOption("a setting, may be given more than once; differences are taken to the first");
  with.default_value = std::vector<std::string>{"none"};
  return InGroup(
      "Settings",
      {with,
       FlagParameter("control",
                     "to each setting that scales channels, orders heads by score or has ratios "
                     "from a file, the same with random channels or a random order of heads"),
       BeyondContextOption()});
}

std::vector<Parameter> ScoreOptions() {
  return InGroup(
      "Scores",
      {ChoiceParameter(
          "score",
          "by the likelihood of the answer, by the task's own scorer on generated text, or both; "
          "published: as the task is, likelihood always beside it",
          {"published", "likelihood", "generation", "both"})});
}

std::vector<Parameter> OutputOptions() {
  return InGroup(
      "Output",
      {OutOption("the HDF5 file to write; of several models, tasks or seeds the folder"),
       FlagParameter(
           "resume",
           "continue the file of an interrupted sweep, or add samples to it with a larger "
           "--samples"),
       FlagParameter(
           "add",
           "join more settings, places or samples to the sweep in the file, which keeps those "
           "that it has; what is not given stays as it is there. More settings or places run "
           "every sample again, so that the numbers are the bits of one run of all"),
       FlagParameter("mixed-cpus",
                     "with --resume: go on under other instructions of the CPU than the file's; "
                     "in float32 that changes the last digits, else more than small effects"),
       FlagParameter("overwrite",
                     "replace files that exist, and what interrupted sweeps left of them"),
       FlagParameter(
           "attention",
           "keep last-query attention [sample, layer, head, key], of the first setting at "
           "the first place"),
       WholeNumberParameter("checkpoint", "samples after which the file is brought up to date", 1,
                            1000000, 20),
       JsonOption()});
}

std::vector<Parameter> RunOptions() {
  Parameter plan =
      TextParameter("plan", "a .json or .toml file of these options by name; flags override it");
  plan.kind = ParameterKind::kFile;
  Parameter throughput = NumberParameter(
      "throughput",
      "of --dry-run; without it one prompt and a few generated tokens are run to measure it", 1e-3,
      1e12);
  throughput.unit = "prompt tokens a second";
  return InGroup(
      "Run",
      {plan,
       WholeNumberParameter(
           "watch", "seconds between tables of what is done so far, on standard error; 0: none", 0,
           1000000, 60),
       FlagParameter("dry-run", "print what would run and how long it would take"), throughput,
       WholeNumberParameter("ranks", "of --dry-run: processes to plan for", 1, 1000000, 1)});
}

std::vector<int64_t> Numbers(const OptionSet& options, const std::string& name, int64_t minimum) {
  const std::string& text = options.Text(name);
  if (text.empty()) return {};
  return ParseNumberList("--" + name, text, minimum, std::numeric_limits<int64_t>::max());
}

// Sets the first sample of the plan and the end of the samples to run.
void SetSamples(const OptionSet& options, const Task& task, SweepPlan& plan) {
  const int64_t samples = options.Integer("samples");
  const std::optional<int64_t> most = task.samples();
  plan.first_sample = options.Integer("sample");
  if (most && plan.first_sample >= *most) {
    throw UsageError("option --sample",
                     fmt::format("{} is requested, task {} has {} samples", plan.first_sample,
                                 task.name(), *most),
                     fmt::format("Give a number from 0 to {}", *most - 1));
  }
  if (samples == 0 && !most) {
    throw UsageError("option --samples", "task " + task.name() + " has no last sample",
                     "Give a number from 1 on");
  }
  plan.samples = plan.first_sample + samples;
  if (!most || (samples > 0 && plan.samples <= *most)) return;
  if (samples > 0 && options.IsSet("samples")) {
    throw UsageError("option --samples",
                     fmt::format("{} from number {} on are requested, task {} has {}", samples,
                                 plan.first_sample, task.name(), *most),
                     fmt::format("Give {} or fewer", *most - plan.first_sample));
  }
  plan.samples = *most;
}

// Throws Error if the file to be extended by --add is not a complete sweep.
void CheckAddedTo(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw UsageError("option --add", file + " does not exist", "Leave --add out to make it");
  }
  if (HasJournal(file)) {
    throw UsageError(file, "its sweep is unfinished",
                     "Give --resume with its own plan first, then --add");
  }
  if (!RankParts(file).empty()) {
    throw UsageError(file, "parts of it are in other files",
                     "Copy all into one file first: midscope merge ONE.h5 " + file);
  }
}

}  // namespace

std::vector<Parameter> SweepOptions() {
  std::vector<Parameter> options = SweepModelOptions();
  for (const auto& more : {TaskOptions(), SettingOptions(), SourcePromptOptions(),
                           PromptFormatOptions(), ScoreOptions(), OutputOptions(), RunOptions()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

OptionSet WithPlan(const OptionSet& options) {
  OptionSet merged = options;
  if (!options.Text("plan").empty()) {
    merged = WithPlanFile(options, options.Text("plan"));
    // A model on the command line replaces all models of the file.
    if (options.IsSet("model") && !options.IsSet("also")) merged.Reset("also");
  }
  RequireModel(merged, "sweep");
  return merged;
}

std::vector<SweepCell> CellsOf(const OptionSet& options) {
  std::vector<std::string> models = {options.Text("model")};
  const std::vector<std::string>& also = options.TextList("also");
  models.insert(models.end(), also.begin(), also.end());
  return SweepCells(models, options.TextList("task"), Numbers(options, "size", 0),
                    Numbers(options, "seed", 0));
}

std::vector<SweepSetting> ReadSettings(const OptionSet& options) {
  std::vector<SweepSetting> settings;
  for (const std::string& text : options.TextList("with")) {
    settings.push_back(ReadSetting(text));
    const auto equal = std::find_if(settings.begin(), settings.end() - 1, [&](const auto& other) {
      return other.intervention == settings.back().intervention;
    });
    if (equal == settings.end() - 1) continue;
    throw UsageError("option --with", Quote(text) + " is the same setting as " + Quote(equal->text),
                     "Give each setting once");
  }
  return settings;
}

void CheckSweepOptions(const OptionSet& options) {
  ReadSettings(options);
  ReadPromptFormat(options);
  if (options.Flag("add") && options.Flag("resume")) {
    throw UsageError("option --add", "--resume is given too",
                     "Give --resume to continue with the file's plan, --add to add to it");
  }
  if (options.Flag("add") && options.Flag("overwrite")) {
    throw UsageError("option --add", "--overwrite is given too",
                     "Give --add to add to the file, --overwrite to replace it");
  }
  if (options.Flag("add") && options.Text("out").empty()) {
    throw UsageError("option --add", "it needs a file to add to", "Give --out FILE.h5");
  }
  if (options.Flag("dry-run")) return;
  for (const char* name : {"ranks", "throughput"}) {
    if (!options.IsSet(name)) continue;
    throw UsageError(std::string("option --") + name, "it has no effect without --dry-run",
                     "Give --dry-run too, or leave it out");
  }
}

namespace {

// Returns the printed texts of places, each from the plan (stored or requested) that contains it.
std::vector<std::string> JoinedPlaceTexts(const std::vector<int64_t>& places,
                                          const SweepPlan& stored, const SweepPlan& requested) {
  if (stored.place_texts.empty() && requested.place_texts.empty()) return {};
  std::vector<std::string> texts;
  texts.reserve(places.size());
  for (const int64_t place : places) {
    const auto& own = stored.places;
    const bool is_stored = std::find(own.begin(), own.end(), place) != own.end();
    texts.push_back(PlaceText(is_stored ? stored : requested, place));
  }
  return texts;
}

}  // namespace

SweepAddition AdditionOf(const OptionSet& options, const SweepPlan& stored, SweepPlan requested,
                         const Task& task) {
  // For --add, options that are not given get the file's values instead of the defaults. Lines that
  // were appended to the task's file are samples to add.
  const bool grown = requested.task_file_bytes > stored.task_file_bytes;
  if (!options.IsSet("samples")) {
    requested.samples = grown ? task.samples().value_or(stored.samples) : stored.samples;
  }
  if (!options.IsSet("places")) {
    requested.places.clear();
    requested.place_texts.clear();
  }
  if (!options.IsSet("with")) requested.settings.clear();
  SweepAddition addition = JoinPlans(stored, requested);
  SweepPlan& plan = addition.plan;
  if (options.IsSet("score")) plan.score = requested.score;
  if (options.IsSet("attention")) plan.attention = requested.attention;
  const std::vector<Parameter> format = PromptFormatOptions();
  if (std::any_of(format.begin(), format.end(),
                  [&](const Parameter& option) { return options.IsSet(option.name); })) {
    plan.format = requested.format;
  }
  plan.task = requested.task;
  plan.task_files_hash = requested.task_files_hash;
  plan.task_file_bytes = requested.task_file_bytes;
  plan.task_places = requested.task_places;
  plan.first_sample = requested.first_sample;
  plan.source_prompts = requested.source_prompts;
  plan.seed = requested.seed;
  plan.place_shares = PlaceShares(plan.places, task);
  plan.place_texts = JoinedPlaceTexts(plan.places, stored, requested);
  return addition;
}

SweepPlan PlanOf(const OptionSet& options, const SweepCell& cell, const Task& task,
                 const Decoder& decoder) {
  SweepPlan plan;
  plan.task = task.name();
  plan.task_files_hash = TaskFilesHash(cell.task);
  plan.task_file_bytes = GrowingFileBytes(cell.task).value_or(0);
  plan.task_places = plan.task_file_bytes > 0 ? task.pieces() : 0;
  plan.score = ParseScoreArms(options.Text("score"), task);
  plan.format = ReadPromptFormat(options);
  CheckPromptFormat(decoder.tokenizer(), plan.format);
  plan.seed = cell.seed;
  SetSamples(options, task, plan);
  plan.places = ReadPlaces(options.Text("places"), task);
  plan.place_shares = PlaceShares(plan.places, task);
  plan.place_texts = PlaceTexts(options.Text("places"), plan.places, task);
  plan.settings = ReadSettings(options);
  plan.attention = options.Flag("attention");
  if (options.Flag("control")) {
    const std::vector<SweepSetting> controls =
        ControlSettings(plan.settings, decoder.config(), plan.seed);
    if (controls.empty()) {
      throw UsageError("option --control",
                       "no setting has channels, an order of heads or ratios to randomise",
                       "Give one by --with, or leave it out");
    }
    plan.settings.insert(plan.settings.end(), controls.begin(), controls.end());
  }
  CheckSettings(plan.settings, decoder.config());
  return plan;
}

std::vector<std::string> SweepFiles(const OptionSet& options, const std::vector<SweepCell>& cells) {
  const std::string& out = options.Text("out");
  if (out.empty() || cells.size() == 1) return std::vector<std::string>(cells.size(), out);
  std::vector<std::string> files = CellFileNames(cells);
  for (std::string& file : files) file = (std::filesystem::path(out) / file).string();
  return files;
}

void CheckSweepFiles(const OptionSet& options, const std::vector<std::string>& files,
                     int64_t ranks) {
  const std::string& out = options.Text("out");
  CheckOverwrite(options);
  RefuseWithoutOut(options, "checkpoint");
  if (out.empty()) {
    if (ranks > 1) {
      throw UsageError("option --out", "several processes share a sweep through its file",
                       "Give --out RUN.h5, in a folder that all of them can access");
    }
    if (options.Flag("resume")) {
      throw UsageError("option --resume", "it needs a file to resume", "Give --out RUN.h5");
    }
    if (options.Flag("attention")) {
      throw UsageError("option --attention", "it is kept in a file only", "Give --out RUN.h5");
    }
    return;
  }
  if (files.size() > 1) MakeFolderOfFiles(out);
  const bool add = options.Flag("add");
  for (const std::string& file : files) {
    if (add) CheckAddedTo(file);
    const bool may_exist = add || options.Flag("resume") || options.Flag("overwrite");
    CheckOutputPath(file, may_exist,
                    "Give --resume to continue, --add to add to it, --overwrite, or another --out");
    const std::vector<std::string> parts = RankParts(file);
    for (const std::string& part : parts) CheckNoWriter(part);
    if (!parts.empty() && !may_exist) {
      throw UsageError(parts.front(), "there are parts of a sweep by several processes",
                       "Give --resume to continue, or another --out");
    }
  }
}

}  // namespace midscope::cli

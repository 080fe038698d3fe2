// SPDX-License-Identifier: MIT
#include "probes/cli/sweep_options.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "probes/cli/command.h"
#include "probes/cli/plan_file.h"
#include "probes/model_options.h"
#include "probes/number_list.h"
#include "probes/prompt_format_options.h"
#include "probes/sweep_controls.h"
#include "probes/task_prompt.h"

namespace midscope::cli {
namespace {

// What is asked of which models.
std::vector<OptionDescription> GridOptions() {
  OptionDescription also =
      TextListOption("also", "another model to ask the same, may be given more than once");
  OptionDescription task = TextListOption(
      "task",
      "what is asked (see midscope help tasks), may be given more than once; {size} in it "
      "stands for the numbers of --size");
  task.default_value = std::vector<std::string>{"list:lines=20"};
  OptionDescription seed =
      TextOption("seed",
                 "what samples, controls, bootstrap and permutations are drawn by; several such as "
                 "1,2,5 or 1-5 are sweeps of their own");
  seed.default_value = std::string("1");
  OptionDescription with =
      WithOption("a setting, may be given more than once; differences are taken to the first");
  with.default_value = std::vector<std::string>{"none"};
  return {also,
          task,
          TextOption("size", "numbers for {size} in --task, such as 10,20,40"),
          PlacesOption("", "default: first, quarter, middle, three quarters, last"),
          IntegerOption("samples", "how many samples, each at every place under every setting", 1,
                        1000000, 40),
          seed,
          with,
          FlagOption("control",
                     "to each setting that scales channels, orders heads by score or has ratios "
                     "from a file, the same with random channels or a random order of heads")};
}

std::vector<OptionDescription> ScoreOptions() {
  return {ChoiceOption(
      "score",
      "by the likelihood of the answer, by the task's own scorer on generated text, or both; "
      "published: as the task is, likelihood always beside it",
      {"published", "likelihood", "generation", "both"})};
}

std::vector<OptionDescription> RunOptions() {
  OptionDescription plan =
      TextOption("plan", "a .json or .toml file of these options by name; flags override it");
  plan.type = OptionType::kFile;
  OptionDescription throughput = NumberOption(
      "throughput", "of --dry-run; without it one prompt is run to measure it", 1e-3, 1e12);
  throughput.unit = "prompt tokens a second";
  return {
      plan,
      OutOption("the HDF5 file to write; of several models, tasks or seeds the folder"),
      FlagOption("resume",
                 "go on in the file of an interrupted sweep, or add samples to it with a larger "
                 "--samples"),
      FlagOption("attention",
                 "keep last-query attention [sample, layer, head, key], of the first setting at "
                 "the first place"),
      IntegerOption("checkpoint", "samples after which the file is brought up to date", 1, 1000000,
                    20),
      IntegerOption("watch",
                    "seconds between tables of what is done so far, on standard error; 0: none", 0,
                    1000000, 60),
      FlagOption("dry-run", "print what would run and how long it would take"),
      throughput,
      IntegerOption("ranks", "of --dry-run: processes to plan for", 1, 1000000, 1),
      JsonOption()};
}

std::vector<int64_t> Numbers(const OptionSet& options, const std::string& name, int64_t minimum) {
  const std::string& text = options.Text(name);
  if (text.empty()) return {};
  return ParseNumberList("--" + name, text, minimum, std::numeric_limits<int64_t>::max());
}

int64_t SamplesOf(const OptionSet& options, const Task& task) {
  const int64_t samples = options.Integer("samples");
  const std::optional<int64_t> most = task.samples();
  if (!most || samples <= *most) return samples;
  if (!options.IsSet("samples")) return *most;
  throw UsageError("option --samples",
                   std::to_string(samples) + " are asked for, task " + task.name() + " has " +
                       std::to_string(*most),
                   "Give " + std::to_string(*most) + " or fewer");
}

}  // namespace

std::vector<OptionDescription> SweepOptions() {
  std::vector<OptionDescription> options = ModelOptions();
  // A plan file may name it.
  options.front().required = false;
  for (const auto& more : {GridOptions(), ScoreOptions(), PromptFormatOptions(), RunOptions()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

OptionSet WithPlan(const OptionSet& options) {
  OptionSet merged = options;
  if (!options.Text("plan").empty()) {
    merged = WithPlanFile(options, options.Text("plan"));
    // A model on the command line stands for all of the file's.
    if (options.IsSet("model") && !options.IsSet("also")) merged.Reset("also");
  }
  if (merged.Text("model").empty()) {
    throw UsageError("MODEL", "it must be given: " + merged.Describe("model").help,
                     "midscope sweep --help shows how");
  }
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
  for (const std::string& text : options.TextList("with")) settings.push_back(ReadSetting(text));
  return settings;
}

SweepPlan PlanOf(const OptionSet& options, const SweepCell& cell, const Task& task,
                 const Decoder& decoder) {
  SweepPlan plan;
  plan.task = task.name();
  plan.task_files_hash = TaskFilesHash(cell.task);
  plan.score = ParseScoreArms(options.Text("score"), task);
  plan.format = ReadPromptFormat(options);
  CheckPromptFormat(decoder.tokenizer(), plan.format);
  plan.seed = cell.seed;
  plan.samples = SamplesOf(options, task);
  plan.places = ReadPlaces(options.Text("places"), task);
  plan.settings = ReadSettings(options);
  plan.attention = options.Flag("attention");
  if (options.Flag("control")) {
    const std::vector<SweepSetting> controls =
        ControlSettings(plan.settings, decoder.config(), plan.seed);
    plan.settings.insert(plan.settings.end(), controls.begin(), controls.end());
  }
  CheckSettings(plan.settings, decoder.config());
  return plan;
}

}  // namespace midscope::cli

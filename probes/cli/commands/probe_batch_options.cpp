// SPDX-License-Identifier: MIT
#include "probes/cli/commands/probe_batch_options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "probes/base/number_list.h"
#include "probes/cli/commands/plan_file.h"
#include "probes/cli/program/command.h"
#include "probes/prompt/task_prompt.h"

namespace midscope::cli {

std::vector<Parameter> BatchOptions() {
  return InGroup(
      "Prompt",
      {PlacesOption("with --task: ", "records get the axes sample and place in front"),
       WholeNumberParameter("samples", "with --task: how many samples, from --sample on; 0: all", 0,
                            1000000, 1)});
}

bool RequestsBatch(const OptionSet& options) {
  const bool asked = options.IsSet("places") || options.IsSet("samples");
  if (!asked) return false;
  const std::string given = options.IsSet("places") ? "option --places" : "option --samples";
  if (!options.IsSet("task")) {
    throw UsageError(given, "only a task has several prompts", "Give --task, or leave it out");
  }
  if (options.IsSet("places") && options.IsSet("place")) {
    throw UsageError("option --place", "--places is given too", "Give one of them");
  }
  return true;
}

ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer) {
  CheckPromptFormat(tokenizer, format);
  const std::shared_ptr<const Task> task =
      MakeTaskFor(tokenizer, options.Text("task"), static_cast<uint64_t>(options.Integer("seed")));
  ProbeBatch batch;
  int64_t samples = options.Integer("samples");
  if (samples == 0) {
    if (!task->samples()) {
      throw UsageError("option --samples", "task " + task->name() + " makes samples without end",
                       "Give their number, 1 or more");
    }
    samples = std::max<int64_t>(1, *task->samples() - options.Integer("sample"));
  }
  batch.samples.resize(static_cast<size_t>(samples));
  std::iota(batch.samples.begin(), batch.samples.end(), options.Integer("sample"));
  batch.places = options.IsSet("places") ? ReadPlaces(options.Text("places"), *task)
                                         : std::vector{ReadPlace(*task, options.Text("place"))};
  batch.prompt = [task, format, &tokenizer](int64_t sample, int64_t place) {
    return PromptOfSample(tokenizer, *task, sample, place, format);
  };
  return batch;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoSetting = "none";
constexpr int64_t kLargestNumber = int64_t{1} << 53;

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Removes a member from the plan and returns its texts: the elements of a list, or the single
// value. A value on the command line replaces them.
std::vector<std::string> TakeTexts(const OptionSet& command_line, const std::string& name,
                                   Json& plan) {
  std::vector<std::string> texts;
  if (const auto found = plan.find(name); found != plan.end()) {
    if (!found->is_array()) texts = {TextOf(*found)};
    if (found->is_array()) {
      for (const Json& one : *found) texts.push_back(TextOf(one));
    }
    plan.erase(name);
  }
  const auto& options = command_line.descriptions();
  const auto option = std::find_if(options.begin(), options.end(),
                                   [&](const Parameter& one) { return one.name == name; });
  if (option == options.end() || !command_line.IsSet(name)) return texts;
  if (option->kind == ParameterKind::kTextList) return command_line.TextList(name);
  return {ParameterText(command_line.Value(name))};
}

// Parses lists of integers, such as "7" or "1-3".
std::vector<int64_t> NumbersOf(const std::string& thing, const std::vector<std::string>& texts) {
  std::vector<int64_t> numbers;
  for (const std::string& text : texts) {
    const auto some = ParseNumberList(thing, text, 0, kLargestNumber);
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  return numbers;
}

// Returns the options of one batch. `rest`: the plan without the members by which batches differ.
OptionSet OptionsOf(const OptionSet& command_line, const Json& rest, const std::string& path,
                    const SweepCell& cell, const std::string& setting) {
  OptionSet options = WithPlanObject(command_line, rest, path);
  options.Set("model", cell.model);
  options.Set("task", cell.task);
  options.Set("seed", static_cast<int64_t>(cell.seed));
  options.Set("with", std::vector<std::string>{setting});
  // Setting --samples makes this a batch even if it has only one prompt.
  if (!options.IsSet("samples")) options.Set("samples", options.Integer("samples"));
  return options;
}

}  // namespace

std::vector<Parameter> ProbePlanOptions() {
  Parameter plan = TextParameter(
      "plan",
      "a .json or .toml file of these options by name; lists of model, task, size, seed and with "
      "are batches of their own, each in a file of the folder --out; flags override it");
  plan.kind = ParameterKind::kFile;
  return InGroup(
      "Running",
      {plan,
       FlagParameter("resume", "with --samples, --places or --plan: continue what was interrupted"),
       FlagParameter("dry-run", "print what would run and how long it would take")});
}

std::vector<ProbeCell> ProbeCells(const OptionSet& command_line) {
  const std::string& path = command_line.Text("plan");
  if (path.empty()) {
    RequireModel(command_line, "probe");
    SweepCell cell{command_line.Text("model"), command_line.Text("task"),
                   static_cast<uint64_t>(command_line.Integer("seed"))};
    return {{std::move(cell), "", command_line}};
  }
  Json plan = ReadPlanFile(path);
  const auto take = [&](const std::string& name) { return TakeTexts(command_line, name, plan); };
  const std::vector<std::string> models = take("model");
  const std::vector<std::string> tasks = take("task");
  const std::vector<int64_t> sizes = NumbersOf(path + ", 'size'", take("size"));
  std::vector<int64_t> seeds = NumbersOf(path + ", 'seed'", take("seed"));
  std::vector<std::string> settings = take("with");
  if (models.empty()) throw UsageError(path, "it names no model", "Write model = \"embedded\"");
  if (tasks.empty()) {
    throw UsageError(path, "it names no task", "Write for example task = \"list:lines=20\"");
  }
  if (seeds.empty()) seeds = {1};
  if (settings.empty()) settings = {kNoSetting};
  const std::vector<SweepCell> cells = SweepCells(models, tasks, sizes, seeds);
  const std::vector<std::string> files = CellFileNames(cells, settings);
  std::vector<ProbeCell> batches;
  for (const SweepCell& cell : cells) {
    for (const std::string& setting : settings) {
      OptionSet options = OptionsOf(command_line, plan, path, cell, setting);
      const std::string out = options.Text("out");
      if (!out.empty() && files.size() > 1)
        options.Set("out", (std::filesystem::path(out) / files[batches.size()]).string());
      batches.push_back({cell, setting, std::move(options)});
    }
  }
  return batches;
}

}  // namespace midscope::cli

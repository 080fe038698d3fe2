// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/model/model_text.h"
#include "data/store/run_store.h"
#include "probes/base/private_folder.h"
#include "probes/cli/commands/channel_comparison.h"
#include "probes/cli/commands/model_comparison.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/model/provenance.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownHeads = 5;

std::string HeadName(const HeadMeans& means, size_t index) {
  const auto heads = static_cast<size_t>(means.heads);
  return fmt::format("L{}H{}", index / heads, index % heads);
}

// The values of one head for one measure; NaN: the model has no such head, or is of another size.
struct ShownHead {
  std::string measure;
  std::string head;
  double before;
  double after;
};

// Returns the heads with the largest values in either model. Heads of models of different sizes are
// not the same heads and get separate rows.
std::vector<ShownHead> LargestHeads(const ModelComparison& comparison) {
  const double none = std::nan("");
  std::vector<ShownHead> shown;
  for (size_t i = 0; i < comparison.heads_before.size(); ++i) {
    const HeadMeans& before = comparison.heads_before[i];
    const HeadMeans& after = comparison.heads_after[i];
    const bool same = before.layers == after.layers && before.heads == after.heads;
    const std::string& measure = HeadMeasures()[i].name;
    std::set<size_t> seen;
    for (const size_t head : before.Largest(kShownHeads)) {
      seen.insert(head);
      shown.push_back(
          {measure, HeadName(before, head), before.values[head], same ? after.values[head] : none});
    }
    for (const size_t head : after.Largest(kShownHeads)) {
      if (same && seen.contains(head)) continue;
      shown.push_back(
          {measure, HeadName(after, head), same ? before.values[head] : none, after.values[head]});
    }
  }
  return shown;
}

std::string NumberText(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

Printout ComparisonText(const ModelComparison& comparison) {
  TextTable outcome({"setting", "place", "samples", "accuracy before", "accuracy after",
                     "nats before", "nats after", "difference [95 %]"});
  for (size_t i = 0; i < comparison.after.size(); ++i) {
    const ComparedCell& before = comparison.before[i];
    const ComparedCell& after = comparison.after[i];
    std::string difference = NumberText(after.difference, 2);
    if (std::isfinite(after.interval.low))
      difference += fmt::format(" [{:.2f}, {:.2f}]", after.interval.low, after.interval.high);
    outcome.Add({DisplayText(after.setting), after.place_text, std::to_string(after.samples),
                 NumberText(before.accuracy, 2), NumberText(after.accuracy, 2),
                 NumberText(before.answer_nll, 2), NumberText(after.answer_nll, 2), difference});
  }
  Printout text;
  for (const std::string& verdict : ComparisonVerdicts(comparison))
    text += DisplayText(verdict) + "\n";
  text.Add("Outcome by place of both models", std::move(outcome));
  const std::vector<ShownHead> heads = LargestHeads(comparison);
  if (heads.empty()) return text;
  TextTable table({"measure", "head", "before", "after"});
  for (const ShownHead& head : heads) {
    table.Add({head.measure, head.head, NumberText(head.before, 4), NumberText(head.after, 4)});
  }
  text.AddTitled(
      fmt::format("The {} largest heads of each model, means over samples and places", kShownHeads),
      std::move(table));
  return text;
}

Json ComparisonJson(const ModelComparison& comparison) {
  Json json = {{"task", comparison.task}, {"rows", Json::array()}, {"heads", Json::array()}};
  for (size_t i = 0; i < comparison.after.size(); ++i) {
    const ComparedCell& before = comparison.before[i];
    const ComparedCell& after = comparison.after[i];
    json["rows"].push_back({{"setting", after.setting},
                            {"place", after.is_mean ? Json() : Json(after.place)},
                            {"place_text", after.place_text},
                            {"samples", after.samples},
                            {"accuracy_before", NumberOrNull(before.accuracy)},
                            {"accuracy_after", NumberOrNull(after.accuracy)},
                            {"answer_nll_before", NumberOrNull(before.answer_nll)},
                            {"answer_nll_after", NumberOrNull(after.answer_nll)},
                            {"difference", NumberOrNull(after.difference)},
                            {"difference_low", NumberOrNull(after.interval.low)},
                            {"difference_high", NumberOrNull(after.interval.high)}});
  }
  for (const ShownHead& head : LargestHeads(comparison)) {
    json["heads"].push_back({{"measure", head.measure},
                             {"head", head.head},
                             {"before", NumberOrNull(head.before)},
                             {"after", NumberOrNull(head.after)}});
  }
  json["verdicts"] = ComparisonVerdicts(comparison);
  return json;
}

// Returns a job context that drops notes and warnings it has already passed on: the commands run
// for each model log the same ones. `passed` must outlive it.
JobContext WithoutRepeats(const JobContext& job, std::set<std::string>* passed) {
  JobContext once = job;
  once.log = [&job, passed](const std::string& note) {
    if (passed->insert(note).second) job.Log(note);
  };
  once.warn = [&job, passed](const std::string& note) {
    if (passed->insert(note).second) job.Warn(note);
  };
  return once;
}

void RunCompareModels(const CommandInput& given) {
  std::set<std::string> notes;
  const JobContext job = WithoutRepeats(given.job, &notes);
  const CommandInput input{given.options, job, given.command_line, given.out, given.ranks};
  const OptionSet& options = input.options;
  if (LaunchedProcesses() > 1) {
    throw UsageError("compare-models", "it runs as one process",
                     "Run it without mpirun or srun, or share midscope sweep for each model");
  }
  const std::string& out = options.Text("out");
  const bool replaces = options.Flag("overwrite") || options.Flag("resume");
  for (const char* name : {"overwrite", "resume"}) RefuseWithoutOut(options, name);
  const std::vector<std::string>& tasks = options.TextList("task");
  const auto seed = options.Integer("seed");
  for (const std::string& task : tasks) {
    CheckSameTexts(options.Text("before"), options.Text("after"), task, static_cast<uint64_t>(seed),
                   options.Integer("samples"));
  }
  if (!out.empty()) MakeFolderOfFiles(out);
  std::optional<PrivateFolder> temporary;
  if (out.empty()) temporary.emplace();
  const std::string folder = out.empty() ? temporary->path().string() : out;
  const std::string file = folder + "/comparison.h5";
  const std::string stem = folder + "/task";
  CheckOutputPath(file, replaces, "Give another --out, or --overwrite");
  Json json = {{"before", options.Text("before")},
               {"after", options.Text("after")},
               {"tasks", Json::array()},
               {"channels", Json::array()}};
  Printout text;
  std::vector<Record> records;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string number = tasks.size() == 1 ? "" : fmt::format("_{}", i + 1);
    const ModelComparison comparison = CompareModels(input, tasks[i], stem + number);
    records.push_back(ComparisonRecord(comparison, "model_comparison" + number));
    records.back().attributes["model_before"] = ShortModelText(options.Text("before"));
    records.back().attributes["model_after"] = ShortModelText(options.Text("after"));
    json["tasks"].push_back(ComparisonJson(comparison));
    text += ComparisonText(comparison);
  }
  if (options.Integer("channel-prompts") > 0) {
    const ChannelComparison channels = CompareChannels(input, stem);
    records.push_back(ChannelComparisonRecord(channels));
    json["channels"] = ChannelComparisonJson(channels);
    text += ChannelComparisonText(channels);
  }
  if (!out.empty()) {
    WriteRecords(file, records, ProgramProvenance(input.command_line, seed, options.ToJson()),
                 {.overwrite = replaces, .plan_json = {}});
  }
  if (options.Flag("json")) {
    input.out << JsonText(json);
    return;
  }
  input.out << FittedLines(text.Text());
  if (!out.empty()) input.out << FileNote(file);
}

// Returns the options of `midscope sweep` that apply to both compared models.
std::vector<Parameter> SharedOptions() {
  static const std::set<std::string> names = {
      "dtype",          "products", "weights", "threads",       "sliding-window",
      "device",         "places",   "samples", "with",          "score",
      "beyond-context", "chat",     "bos",     "chat-template", "chat-option",
      "chat-date",      "system",   "resume",  "json",          "overwrite"};
  std::vector<Parameter> options = SweepCommand().options;
  std::erase_if(options, [](const Parameter& option) { return !names.contains(option.name); });
  return options;
}

}  // namespace

Command CompareModelsCommand() {
  Command command;
  command.name = "compare-models";
  command.summary = "two models on the same samples: before and after tuning, with and without";
  command.description =
      "Runs the same samples on both models and prints the outcome by place of each, differences\n"
      "paired by sample with 95 % intervals, and the heads that attend most to the gold or know\n"
      "most about position, before and after; with --channel-prompts also the channels that carry\n"
      "position. MODEL@init (random weights) as BEFORE asks what is\n"
      "there at birth; 'MODEL adapter=FOLDER' as AFTER what an adapter changed. The tokenizers "
      "may\n"
      "differ if the task makes the same texts for both. With --out, the folder holds the files\n"
      "of sweep and probe for each model, and comparison.h5.";
  command.positionals = {"before", "after"};
  Parameter before = FileParameter("before", "a model, as in the other commands");
  Parameter after = FileParameter("after", "the model that is compared with it");
  before.required = true;
  after.required = true;
  Parameter task =
      TextListParameter("task", "the task (see midscope help tasks), may be given more than once");
  task.default_value = std::vector<std::string>{"list:lines=20"};
  command.options = InGroup("Models", {before, after});
  for (const Parameter& option : InGroup(
           "Task",
           {task, WholeNumberParameter("seed", "what samples are drawn by", 0, kNoMaximum, 1),
            WholeNumberParameter("head-samples",
                                 "samples over which heads are measured, under the first --with; "
                                 "0: heads are not measured",
                                 0, 1000000, 10),
            WholeNumberParameter("channel-prompts",
                                 "prompts of random text over which the channels that carry "
                                 "position are ranked, as midscope channels does; 0: they are not "
                                 "ranked",
                                 0, 100000, 0),
            WholeNumberParameter("channel-tokens", "length of each of them, in tokens", 1, 1000000,
                                 1000)})) {
    command.options.push_back(option);
  }
  for (Parameter& option : SharedOptions()) command.options.push_back(std::move(option));
  for (const Parameter& option : InGroup("Output", {OutOption("the folder of the HDF5 files")}))
    command.options.push_back(option);
  command.options = WithBrief(
      std::move(command.options),
      {"before", "after", "task", "places", "samples", "seed", "with", "out", "resume", "json"});
  command.examples =
      "  midscope compare-models embedded 'embedded adapter=tuned' --task list:lines=20\n"
      "  midscope compare-models embedded@init embedded --task kv:pairs=10 --out birth\n"
      "  midscope compare-models MODEL TUNED --task needle:tokens=1000 --task needle:tokens=4000";
  command.run = RunCompareModels;
  return command;
}

}  // namespace midscope::cli

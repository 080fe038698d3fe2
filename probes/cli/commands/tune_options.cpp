// SPDX-License-Identifier: MIT
#include "probes/cli/commands/tune_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "data/tasks/task.h"
#include "probes/cli/commands/sampler_options.h"
#include "probes/cli/program/command.h"
#include "probes/model/model_options.h"
#include "probes/tuning/tuning_documents.h"

namespace midscope::cli {
namespace {

constexpr int64_t kMostSteps = 100'000'000;
constexpr int64_t kMostBatch = 1 << 20;
constexpr int64_t kMostRank = 1 << 16;
constexpr int64_t kMostFactor = 1 << 14;
constexpr int64_t kMostThreads = 4096;
constexpr int64_t kWarmUp = 10;  // as in CREAM's base model
constexpr double kAlphaPerRank = 2;
constexpr int64_t kOtherPlaces = 4;  // as in the public code of pos2distill
constexpr const char* kDistillation = "pos2distill";

// Options that do not change the result.
bool IsWithoutEffect(const std::string& name) {
  static const std::vector<std::string> names = {"out",   "resume",     "json",   "data",
                                                 "model", "checkpoint", "threads"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Distils(const OptionSet& options) { return options.Text("recipe") == kDistillation; }

Interpolation InterpolationOf(const OptionSet& options) {
  if (options.IsSet("with")) {
    if (options.IsSet("interpolation"))
      throw UsageError("option --with", "it takes the place of --interpolation",
                       "Give one of them");
    return Interpolation::kNone;
  }
  const std::string& name = options.Text("interpolation");
  if (Distils(options)) return Interpolation::kNone;
  if (name == "linear") return Interpolation::kLinear;
  if (name == "ntk") return Interpolation::kNtk;
  return name == "yarn" ? Interpolation::kYarn : Interpolation::kNone;
}

std::string SettingOf(const OptionSet& options, const TunedScheme& scheme) {
  const std::string factor = NumberText(scheme.factor);
  switch (scheme.interpolation) {
    case Interpolation::kLinear:
      return "pi(" + factor + ")";
    case Interpolation::kNtk:
      return "ntk(" + factor + ")";
    case Interpolation::kYarn:
      return "yarn(" + factor + ", form=cream)";
    default:
      return OneSetting(options, "tune");
  }
}

// Distillation keeps the positions of the model and takes a task's places.
void CheckDistillation(const OptionSet& options) {
  for (const char* name : {"factor", "interpolation", "data", "loss"}) {
    if (options.IsSet(name) && Distils(options)) {
      throw UsageError(std::string("option --") + name,
                       "it has no meaning with --recipe pos2distill, which tunes a model inside of "
                       "its context on the answers of a --task",
                       "Leave it out");
    }
  }
  if (options.IsSet("other-places") && !Distils(options))
    throw UsageError("option --other-places", "it has an effect only with --recipe pos2distill");
}

SampledRecipe ReadRecipe(const OptionSet& options) {
  CheckDistillation(options);
  SampledRecipe recipe;
  recipe.sampler = FindPositionSampler(Distils(options) ? "full" : options.Text("recipe"));
  CheckSamplerOptions({recipe.sampler}, options);
  recipe.options = options;
  recipe.tokens = options.Integer("tokens");
  recipe.factor = Distils(options) ? 1 : options.Integer("factor");
  recipe.seed = static_cast<uint64_t>(options.Integer("seed"));
  if (recipe.context() > kLargestPositionContext) {
    throw UsageError("option --factor", "tokens * factor is " + std::to_string(recipe.context()) +
                                            "; it must not exceed " +
                                            std::to_string(kLargestPositionContext));
  }
  return recipe;
}

OptimizerSettings ReadOptimizer(const OptionSet& options) {
  OptimizerSettings settings;
  settings.rate = options.Number("rate");
  settings.steps = options.Integer("steps");
  settings.warm_up =
      options.Has("warm-up") ? options.Integer("warm-up") : std::min(kWarmUp, settings.steps / 2);
  if (settings.warm_up >= settings.steps) {
    throw UsageError("option --warm-up",
                     "it must be below --steps, which is " + std::to_string(settings.steps));
  }
  settings.weight_decay = options.Number("weight-decay");
  settings.largest_norm = options.Number("clip");
  return settings;
}

std::optional<LoraSettings> ReadLora(const OptionSet& options) {
  if (!options.Has("lora")) {
    for (const char* name : {"alpha", "projections"}) {
      if (options.IsSet(name))
        throw UsageError(std::string("option --") + name, "it belongs to adapters", "Give --lora");
    }
    return std::nullopt;
  }
  LoraSettings lora;
  lora.rank = options.Integer("lora");
  lora.alpha = options.Has("alpha") ? options.Number("alpha")
                                    : kAlphaPerRank * static_cast<double>(lora.rank);
  lora.projections.clear();
  std::stringstream names(options.Text("projections"));
  for (std::string name; std::getline(names, name, ',');) lora.projections.push_back(name);
  lora.seed = static_cast<uint64_t>(options.Integer("seed"));
  return lora;
}

void CheckData(const OptionSet& options) {
  const bool has_task = !options.TextList("task").empty();
  if (has_task == !options.TextList("data").empty()) {
    throw UsageError("data",
                     has_task ? "--data and --task must not both be given" : "none are given",
                     "Give --data FILE or --task SPEC");
  }
  const auto refuse = [&](const char* name, const char* with) {
    if (options.IsSet(name))
      throw UsageError(std::string("option --") + name,
                       "it has an effect only with " + std::string(with));
  };
  for (const char* name : {"field", "packing", "repeat", "chat"}) {
    if (has_task) refuse(name, "--data");
  }
  for (const char* name : {"chat-template", "mask-user"}) {
    if (!options.Flag("chat")) refuse(name, "--chat");
  }
  if (options.Flag("chat") && options.IsSet("field"))
    throw UsageError("option --field", "conversations have none", "Leave it out");
  if (!has_task) refuse("loss", "--task");
}

std::vector<Parameter> DataOptions() {
  return InGroup(
      "Data",
      {TextListParameter("data",
                         "text: a file .txt (one document), a file .jsonl (a document per line) or "
                         "a folder of these; may be repeated"),
       TextListParameter("task",
                         "instead of text: prompts of a task with their answers, the gold piece at "
                         "a random place; may be repeated (see midscope help tasks)"),
       [] {
         Parameter field = TextParameter("field", "the field of a .jsonl line that has the text");
         field.default_value = "text";
         return field;
       }(),
       ChoiceParameter("packing",
                       "select: documents with fewer tokens than a sample are left out, as for "
                       "CREAM's base model; join: consecutive documents are joined until they have "
                       "enough, as for its chat model",
                       {"select", "join"}),
       FlagParameter("chat",
                     "lines of .jsonl are conversations (`conversations`, the form of ShareGPT, or "
                     "`messages`), written with the chat template"),
       TextParameter("chat-template",
                     "a family's template, such as vicuna, or a file, in place of the model's own"),
       ChoiceParameter(
           "mask-user",
           "on: the loss counts only the assistant's turns, as CREAM's paper says; off: "
           "all tokens, as its code does",
           {"on", "off"}),
       FlagParameter("repeat", "take the documents again, in another order, if there are too few"),
       WholeNumberParameter("other-places",
                            "pos2distill: samples at other places for each one at the first", 1,
                            kMostBatch, kOtherPlaces),
       ChoiceParameter("loss", "the tokens of a task's prompt that the loss counts",
                       {"answer", "all"}),
       WholeNumberParameter("held-out",
                            "samples kept out of the training, whose mean loss is computed before "
                            "and after",
                            0, kMostBatch, 0)});
}

std::vector<Parameter> OptimizerOptions() {
  return InGroup(
      "Optimizer",
      {WholeNumberParameter("batch", "samples per step, run one after the other", 1, kMostBatch, 1),
       NumberParameter("rate", "the highest learning rate of AdamW", 1e-12, 1e3, 2e-5),
       Required(WholeNumberParameter("steps", "number of steps", 1, kMostSteps)),
       WholeNumberParameter("warm-up",
                            "steps before the highest rate, which then falls linearly to 0; by "
                            "default 10, and at most half of the steps",
                            0, kMostSteps),
       NumberParameter("clip", "gradients of a larger norm are scaled down to it; 0: never", 0, 1e9,
                       1),
       NumberParameter("weight-decay", "AdamW's weight decay", 0, 1e3, 0),
       WholeNumberParameter("seed",
                            "seed of position ids, of the order of documents, of task samples and "
                            "of the adapter",
                            0, kNoMaximum, 1)});
}

std::vector<Parameter> TunedWeightOptions() {
  Parameter projections =
      TextParameter("projections", "the matrices that an adapter changes, separated by commas");
  projections.default_value = "query,key,value,attention_out";
  return InGroup(
      "Weights",
      {WholeNumberParameter("lora",
                            "tune a low-rank adapter of this rank instead of all weights; the only "
                            "way for a GGUF file",
                            1, kMostRank),
       NumberParameter("alpha", "the adapter is scaled by alpha / rank; by default 2 rank", 1e-6,
                       1e9),
       projections,
       ChoiceParameter("dtype",
                       "dtype of the computation; the tensors that the optimizer changes are "
                       "float32 in both",
                       {"float32", "bfloat16"}),
       FlagParameter("recompute",
                     "keep only the layers' inputs and compute them again in the backward pass: "
                     "less memory, about a third more time"),
       WholeNumberParameter("threads", "CPU threads; by default one per core", 1, kMostThreads)});
}

std::vector<Parameter> TunedOutputOptions() {
  Parameter out = OutOption("the folder to write");
  return InGroup(
      "Output", {Required(out),
                 WholeNumberParameter("checkpoint", "steps between checkpoints", 1, kMostSteps, 50),
                 FlagParameter("resume", "continue an interrupted run from its last checkpoint"),
                 JsonOption()});
}

}  // namespace

std::vector<Parameter> TuneOptions() {
  Parameter recipe = SamplerChoice(
      "recipe",
      "what the position ids are drawn by; pos2distill: the model with the gold piece of a task at "
      "the first place teaches itself for other places");
  recipe.choices.emplace_back(kDistillation);
  std::vector<Parameter> options = {ModelOptions().front(), recipe};
  const auto add = [&](const std::vector<Parameter>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add({Required(WholeNumberParameter(
           "tokens", "N: tokens of a sample; a sample of the recipe full has N times the factor", 2,
           kLargestPositionContext)),
       WholeNumberParameter("factor", "position ids are below N times the factor", 1, kMostFactor,
                            4),
       ChoiceParameter("interpolation",
                       "position scheme: linear: pi(FACTOR); ntk: ntk(FACTOR); yarn: yarn(FACTOR, "
                       "form=cream)",
                       {"linear", "ntk", "yarn", "none"}),
       WithOption("any position scheme in place of --interpolation")});
  add(DataOptions());
  add(OptimizerOptions());
  add(TunedWeightOptions());
  add(TunedOutputOptions());
  add(SamplerOptions());
  return options;
}

TuneRequest ReadTuneOptions(const OptionSet& options) {
  CheckData(options);
  TuneRequest request;
  request.recipe = ReadRecipe(options);
  request.scheme = {InterpolationOf(options), static_cast<double>(request.recipe.factor),
                    request.recipe.context()};
  request.settings.setting = ParseIntervention(SettingOf(options, request.scheme));
  request.setting = PrintIntervention(request.settings.setting);
  request.settings.optimizer = ReadOptimizer(options);
  request.settings.batch = options.Integer("batch");
  request.settings.lora = ReadLora(options);
  request.settings.dtype = ParseDtype(options.Text("dtype"));
  request.settings.recompute = options.Flag("recompute");
  request.settings.distil = Distils(options);
  request.settings.threads = options.Has("threads") ? options.Integer("threads") : 0;
  const bool named = !options.IsSet("with");
  request.published_form = {{"method", options.Text("recipe")},
                            {"interpolation", !named             ? request.setting
                                              : Distils(options) ? "none"
                                                                 : options.Text("interpolation")},
                            {"factor", std::to_string(request.recipe.factor)},
                            {"setting", request.setting}};
  return request;
}

std::string TunePlanJson(const OptionSet& options, const std::string& model_hash) {
  nlohmann::ordered_json plan = nlohmann::ordered_json::parse(options.ToJson());
  for (const Parameter& option : options.descriptions()) {
    if (IsWithoutEffect(option.name)) plan.erase(option.name);
  }
  plan["model_hash"] = model_hash;
  const std::vector<std::string>& data = options.TextList("data");
  if (!data.empty()) plan["data_hash"] = DocumentFilesHash(data);
  std::string task_hashes;
  for (const std::string& task : options.TextList("task")) task_hashes += TaskFilesHash(task);
  if (!task_hashes.empty()) plan["task_files_hash"] = task_hashes;
  return plan.dump();
}

}  // namespace midscope::cli

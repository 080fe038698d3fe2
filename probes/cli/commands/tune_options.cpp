// SPDX-License-Identifier: MIT
#include "probes/cli/commands/tune_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/positions/position_sampler.h"
#include "core/terms/intervention_text.h"
#include "data/tasks/task.h"
#include "probes/cli/program/command.h"
#include "probes/model/model_options.h"
#include "probes/tuning/tuning_documents.h"
#include "probes/tuning/tuning_options.h"

namespace midscope::cli {
namespace {

constexpr int64_t kWarmUp = 10;  // default number of steps, as for CREAM's base model
constexpr double kAlphaPerRank = 2;

// Returns whether an option does not change the result of a tuning run.
bool IsWithoutEffect(const std::string& name) {
  static const std::vector<std::string> names = {"out",   "resume",     "json",    "data",
                                                 "model", "checkpoint", "threads", "device"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

Interpolation InterpolationOf(const OptionSet& options) {
  if (options.IsSet("with")) {
    if (options.IsSet("interpolation"))
      throw UsageError("option --with", "it takes the place of --interpolation",
                       "Give one of them");
    return Interpolation::kNone;
  }
  const std::string& name = options.Text("interpolation");
  if (Distils(options) || options.Integer("factor") == 1) return Interpolation::kNone;
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

// Throws Error (usage) for options that distillation does not use: it keeps the model's positions
// and uses a task's places.
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

}  // namespace

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
  request.settings.device = ReadOneDevice(options);
  const bool named = !options.IsSet("with");
  request.published_form = {{"method", options.Text("recipe")},
                            {"interpolation", !named ? request.setting
                                              : request.scheme.interpolation == Interpolation::kNone
                                                  ? "none"
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

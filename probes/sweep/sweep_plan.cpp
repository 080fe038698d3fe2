// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_plan.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/intervention/passage.h"
#include "core/intervention/term_type.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "data/published/tuning_recipe.h"
#include "data/sweep/plan_difference.h"
#include "kernels/instruction_set.h"
#include "probes/model/model_options.h"

namespace midscope {

std::string SweepSetting::canonical() const { return PrintIntervention(intervention); }

std::string ScoreArmsName(const ScoreArms& arms) {
  return !arms.generation ? "likelihood" : arms.likelihood ? "both" : "generation";
}

ScoreArms ParseScoreArms(std::string_view name, const Task& task) {
  if (name == "published") return {true, !task.scored_by_likelihood()};
  for (const ScoreArms arms : {ScoreArms{true, false}, ScoreArms{false, true}, {true, true}}) {
    if (ScoreArmsName(arms) == name) return arms;
  }
  throw UsageError("score '" + std::string(name) + "'", "the score is unknown",
                   KnownWordsHint(name, {"published", "likelihood", "generation", "both"}));
}

SweepSetting ReadSetting(const std::string& text) { return {text, ParseIntervention(text)}; }

std::vector<std::string> SweepPlan::CanonicalSettings() const {
  std::vector<std::string> texts;
  for (const SweepSetting& setting : settings) texts.push_back(setting.canonical());
  return texts;
}

namespace {

// Returns a scan as JSON: {"over", "with", "items": [[id, index on each axis ...], ...]}.
nlohmann::ordered_json ScanJson(const Scan& scan) {
  nlohmann::ordered_json json = {{"over", scan.kind}, {"with", scan.term}};
  json["items"] = nlohmann::ordered_json::array();
  for (const ScanItem& item : scan.items) {
    nlohmann::ordered_json one = {item.id};
    for (const int64_t place : item.at) one.push_back(place);
    json["items"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string PlanJson(const SweepPlan& plan, const Decoder& decoder) {
  nlohmann::ordered_json json;
  json["task"] = plan.task;
  json["seed"] = plan.seed;
  json["samples"] = plan.samples;
  json["places"] = plan.places;
  json["settings"] = plan.CanonicalSettings();
  json["attention"] = plan.attention;
  // The following members of the plan are omitted if they have default values.
  if (!plan.task_files_hash.empty()) json[kTaskFilesHash] = plan.task_files_hash;
  if (plan.task_file_bytes > 0) {
    json[kTaskFileBytes] = plan.task_file_bytes;
    json["task_places"] = plan.task_places;
  }
  if (!plan.source_prompts.empty()) json["source_prompts"] = plan.source_prompts;
  if (plan.score != ScoreArms()) json["score"] = ScoreArmsName(plan.score);
  AddPromptFormat(plan.format, &json);
  if (plan.scan) json["scan"] = ScanJson(*plan.scan);
  json["model_hash"] = decoder.hash();
  json["dtype"] = DtypeName(decoder.options().dtype);
  if (decoder.options().products != Products::kFloat)
    json["products"] = ProductsName(decoder.options().products);
  json[kInstructionsOfPlan] =
      plan.instructions.empty() ? kernels::InstructionSetName() : plan.instructions;
  if (!decoder.options().sliding_window) json["sliding_window"] = "off";
  if (decoder.options().beyond_context) json["beyond_context"] = true;
  const TuningRecipe recipe = RecipeOfModel(decoder.path());
  if (!recipe.empty()) json["recipe"] = recipe;
  json["weights"] = WeightStorageName(decoder.options().weights);
  // Devices are part of the plan because they sum in different orders.
  const Placement& placement = decoder.options().placement;
  if (!placement.IsPlainCpu()) json["device"] = PrintPlacement(placement);
  return json.dump();
}

namespace {

// Returns a text member of a plan in JSON; `otherwise` if it is missing or not a text.
std::string TextIn(const std::string& plan_json, const char* name, const std::string& otherwise) {
  const auto json = nlohmann::json::parse(plan_json, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return otherwise;
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

}  // namespace

std::string PlanProducts(const std::string& plan_json) {
  return TextIn(plan_json, "products", "float");
}

std::string PlanDtype(const std::string& plan_json) { return TextIn(plan_json, "dtype", ""); }

std::string PlanInstructions(const std::string& plan_json) {
  return TextIn(plan_json, kInstructionsOfPlan, "");
}

void CheckSettings(const std::vector<SweepSetting>& settings, const ModelConfig& config) {
  for (const SweepSetting& setting : settings) {
    // Assumes that rows and passages exist in the prompt; they are checked against it later.
    CompilePlans(WithAnyPassages(setting.intervention), config, config.trained_context);
  }
}

namespace {

// Returns whether rows before the last prompt row also change, so that what-if must run them again.
bool ChangesEarlyRows(const Intervention& intervention) {
  return std::any_of(intervention.terms.begin(), intervention.terms.end(),
                     [](const Term& term) { return term.type().changes_early_rows(term); });
}

}  // namespace

std::vector<size_t> EvaluationOrder(const std::vector<SweepSetting>& settings) {
  const auto key = [&](size_t index) {
    const Intervention& intervention = settings[index].intervention;
    const int kind = ChangesEarlyRows(intervention) ? 2 : intervention.empty() ? 0 : 1;
    return std::tuple(kind, settings[index].canonical(), index);
  };
  std::vector<size_t> order(settings.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

namespace {

// Seed of random controls, different from the streams of tasks and resampling.
constexpr uint64_t kControlStream = 0xc0117201;
// Returns the types of the terms, without duplicates, from last to first: this order determines the
// random controls and must not change.
std::vector<const TermType*> TypesIn(const Intervention& intervention) {
  std::vector<const TermType*> types;
  for (const Term& term : intervention.terms) {
    if (types.empty() || types.back() != &term.type()) types.push_back(&term.type());
  }
  std::reverse(types.begin(), types.end());
  return types;
}

}  // namespace

std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed) {
  std::vector<SweepSetting> controls;
  for (size_t i = 0; i < settings.size(); ++i) {
    SplitMix64 random(seed, kControlStream + i);
    SweepSetting control = settings[i];
    bool any = false;
    for (const TermType* type : TypesIn(control.intervention))
      any |= type->control && type->control(control.intervention, config, random);
    if (!any) continue;
    control.text = control.canonical();
    control.control_of = settings[i].text;
    controls.push_back(std::move(control));
  }
  return controls;
}

std::vector<std::string> SettingsWithoutControl(const std::vector<SweepSetting>& settings) {
  std::vector<std::string> without;
  for (const SweepSetting& setting : settings) {
    if (!setting.control_of.empty()) continue;
    const bool has_one = std::any_of(
        settings.begin(), settings.end(),
        [&](const SweepSetting& control) { return control.control_of == setting.text; });
    if (!has_one && !setting.intervention.empty()) without.push_back(setting.text);
  }
  return without;
}

}  // namespace midscope

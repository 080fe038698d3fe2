// SPDX-License-Identifier: MIT
#include "probes/measure/channels/find_channels.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/timing.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_store.h"
#include "kernels/instruction_set.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/channel_search.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

constexpr int64_t kMeasuredTokens = 256;

std::string SearchFile(const std::string& out) { return out.empty() ? "" : out + ".search"; }
std::string ValidationFile(const std::string& out) { return out + ".validation"; }

// Checks the validation before the search, which may take hours.
void CheckValidation(const FindChannelsRun& run) {
  if (!run.validation) return;
  const ValidationPlan& plan = run.validation->plan;
  const ModelConfig& config = run.decoder->config();
  CheckSettings({ReadSetting(TrialText({0, 1, false}, plan.layers))}, config);
  const Tokenizer& tokenizer = run.decoder->tokenizer();
  const auto task = MakeTaskFor(tokenizer, plan.task, plan.seed);
  CheckPromptFormat(tokenizer, plan.format);
  for (const Prompt& prompt : TaskPrompts(tokenizer, *task, plan.places, 0, plan.format)) {
    CheckPromptFits(config, prompt);
  }
}

ValidationPlan PlanOf(const FindChannelsRun& run, const std::vector<ChannelScore>& ranked) {
  ValidationPlan plan = run.validation->plan;
  std::vector<int64_t> candidates;
  for (const ChannelScore& score : ranked) {
    if (static_cast<int64_t>(candidates.size()) < run.top) candidates.push_back(score.channel);
  }
  plan.trials = MakeTrials(candidates, run.validation->factors, false);
  if (run.validation->control) {
    const auto drawn = ControlChannels(candidates, run.decoder->config().hidden, plan.seed);
    const auto control = MakeTrials(drawn, run.validation->factors, true);
    plan.trials.insert(plan.trials.end(), control.begin(), control.end());
  }
  return plan;
}

SweepResult RunTrials(const FindChannelsRun& run, const ValidationPlan& plan,
                      const JobContext& context) {
  const Tokenizer& tokenizer = run.decoder->tokenizer();
  const auto task = MakeTaskFor(tokenizer, plan.task, plan.seed);
  SweepRun sweep;
  sweep.decoder = run.decoder;
  sweep.plan = TrialSweep(plan);
  sweep.questions = [&](int64_t sample) {
    return AnswerQuestions(TaskPrompts(tokenizer, *task, plan.places, sample, plan.format));
  };
  std::optional<SweepStore> store;
  if (!run.out.empty()) {
    SweepStoreOptions options;
    options.resume = run.resume;
    store = SweepStore::Create(
        ValidationFile(run.out), PlanJson(sweep.plan, *run.decoder),
        MakeProvenance(*run.decoder, "", static_cast<int64_t>(plan.seed), ""), options);
    sweep.store = &*store;
  }
  sweep.on_sample = [&](const SweepResult& so_far) {
    if (!run.on_partial || so_far.outcomes.empty() || so_far.done() >= plan.examples) return;
    Record record = ChannelValidationRecord(plan, so_far);
    record.attributes[kPlannedExamples] = plan.examples;
    run.on_partial(record);
  };
  JobContext inner = context;
  inner.progress = [&](const Progress& progress) {
    context.Report({"validate", progress.done, progress.total, "examples"});
  };
  return run.run_trials ? run.run_trials(std::move(sweep), inner) : RunSweep(sweep, inner);
}

// Reports the ranking over the prompts so far, at every power of two: ranking takes longer than a
// prompt on fast devices.
void ReportSoFar(const FindChannelsRun& run, const HiddenSums& so_far, const JobContext& context) {
  if (!run.on_partial || !std::has_single_bit(static_cast<uint64_t>(so_far.prompts))) return;
  JobContext quiet = context;
  quiet.progress = nullptr;
  const std::vector<ChannelScore> scores = ScoreChannels(so_far, run.search, quiet);
  Record record = ChannelSearchRecord(so_far, run.search, scores, run.top);
  record.attributes[kPlannedPrompts] = run.search.states.prompts;
  run.on_partial(record);
}

double SecondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return SecondsSince(start);
}

double PrefillSeconds(const FindChannelsRun& run, const JobContext& context) {
  const int64_t tokens = std::min(kMeasuredTokens, run.search.states.tokens);
  const auto ids = RandomTextIds(run.decoder->tokenizer(), run.search.states.seed, 0, tokens,
                                 run.search.states.bos);
  RunRequest request;
  request.ids = ids;
  run.decoder->RunOne(request,
                      context);  // not timed, because it also reads weights
  const double measured = SecondsOf([&] { run.decoder->RunOne(request, context); });
  const HiddenSumsPlan& states = run.search.states;
  return measured * static_cast<double>(states.prompts * states.tokens) /
         static_cast<double>(tokens);
}

double ValidationSeconds(const FindChannelsRun& run, const JobContext& context) {
  const ValidationPlan& plan = run.validation->plan;
  const Tokenizer& tokenizer = run.decoder->tokenizer();
  const auto task = MakeTaskFor(tokenizer, plan.task, plan.seed);
  WhatIf what_if(run.decoder, TaskPrompts(tokenizer, *task, {plan.places.front()}, 0, plan.format));
  const auto trial = [&](double factor) {
    return ReadSetting(TrialText({0, factor, false}, plan.layers)).intervention;
  };
  const double unchanged = SecondsOf([&] { what_if.Evaluate({}, context, false); });
  what_if.Evaluate(trial(0), context, false);
  const double changed = SecondsOf([&] { what_if.Evaluate(trial(-1), context, false); });
  const double arms = run.validation->control ? 2 : 1;
  const double trials =
      arms * static_cast<double>(run.top) * static_cast<double>(run.validation->factors.size());
  return static_cast<double>(plan.examples) * static_cast<double>(plan.places.size()) *
         (unchanged + trials * changed);
}

}  // namespace

std::string FindChannelsPlanJson(const FindChannelsRun& run) {
  const ChannelSearchOptions& search = run.search;
  nlohmann::ordered_json json;
  json["seed"] = search.states.seed;
  json["prompts"] = search.states.prompts;
  json["tokens"] = search.states.tokens;
  if (search.states.bos) json["bos"] = true;
  json["layers"] = search.states.layers;
  json["trend_skip"] = search.trend_skip;
  json["smoothness_skip"] = search.smoothness_skip;
  json["smoothing_window"] = search.smoothing_window;
  json["threshold"] = search.threshold;
  json["top"] = run.top;
  if (search.ranking != SearchRanking::kFull) json["ranking"] = NameOf(search.ranking).name;
  if (run.validation) {
    const ValidationPlan& plan = run.validation->plan;
    json["validation"] = {{"task", plan.task},
                          {"seed", plan.seed},
                          {"examples", plan.examples},
                          {"places", plan.places},
                          {"layers", plan.layers.Text()},
                          {"factors", run.validation->factors},
                          {"control", run.validation->control}};
    AddPromptFormat(plan.format, &json["validation"]);
    if (plan.loss == kCodeLoss) {
      json["validation"]["loss"] = "code";
    } else if (plan.loss != ValidationLoss()) {
      json["validation"]["loss"] = {{"per_token", plan.loss.per_token},
                                    {"one_place", plan.loss.one_place},
                                    {"rounded", plan.loss.rounded}};
    }
  }
  json["model_hash"] = run.decoder->hash();
  json["dtype"] = DtypeName(run.decoder->options().dtype);
  if (run.decoder->options().products != Products::kFloat)
    json["products"] = ProductsName(run.decoder->options().products);
  json[kInstructionsOfPlan] = kernels::InstructionSetName();
  return json.dump();
}

std::vector<std::string> UnfinishedFiles(const std::string& out) {
  return {SearchFile(out), ValidationFile(out), JournalPath(ValidationFile(out))};
}

void RemoveUnfinishedFiles(const std::string& out) {
  std::error_code ignored;
  for (const std::string& file : UnfinishedFiles(out)) std::filesystem::remove(file, ignored);
}

void CheckUnfinishedFiles(const std::string& out, bool resume) {
  if (out.empty() || resume) return;
  for (const std::string& file : UnfinishedFiles(out)) {
    if (!std::filesystem::exists(file)) continue;
    throw UsageError(file, "an unfinished search exists",
                     "Resume it (--resume), remove it, or give another name");
  }
}

bool HasUnfinishedSearch(const std::string& out) {
  const std::vector<std::string> files = UnfinishedFiles(out);
  return std::any_of(files.begin(), files.end(),
                     [](const std::string& file) { return std::filesystem::exists(file); });
}

std::vector<Record> FindChannels(const FindChannelsRun& run, const JobContext& context) {
  CheckSearchOptions(run.search, run.decoder->config());
  CheckValidation(run);
  CheckUnfinishedFiles(run.out, run.resume);
  HiddenSums own;
  HiddenSums& sums = run.sums ? *run.sums : own;
  HiddenSumsRun states = {*run.decoder, run.search.states, SearchFile(run.out),
                          FindChannelsPlanJson(run), run.hooks};
  states.on_prompt = [&](const HiddenSums& so_far) { ReportSoFar(run, so_far, context); };
  SumHiddenStates(states, sums, context);
  const std::vector<ChannelScore> scores = ScoreChannels(sums, run.search, context);
  std::vector<Record> records = {ChannelSearchRecord(sums, run.search, scores, run.top)};
  const std::vector<ChannelScore> ranked = RankChannels(scores, run.search.ranking, run.top);
  if (!run.validation || ranked.empty()) return records;
  if (run.on_partial) run.on_partial(records.front());
  const ValidationPlan plan = PlanOf(run, ranked);
  const SweepResult result = RunTrials(run, plan, context);
  records.push_back(ChannelValidationRecord(plan, result));
  records.push_back(MeansRecord(TrialSweep(plan), result));
  return records;
}

double EstimateSeconds(const FindChannelsRun& run, const JobContext& context) {
  JobContext quiet = context;
  quiet.progress = nullptr;
  const double states = PrefillSeconds(run, quiet);
  return states + (run.validation ? ValidationSeconds(run, quiet) : 0);
}

namespace {

// Offset of sample numbers: validation examples differ from samples of a sweep of the same seed.
constexpr int64_t kValidationSeedOffset = 1'000'000;

int64_t IntegerOr(const OptionSet& options, const std::string& name, int64_t otherwise) {
  return options.IsSet(name) ? options.Integer(name) : otherwise;
}

// Reads layers such as "8-25" with the grammar of interventions.
LayerSet ReadLayers(const OptionSet& options, bool is_code, int64_t model_layers) {
  if (options.IsSet("layers")) {
    const std::string text = "channel(0, factor=1, layers=" + options.Text("layers") + ")";
    return ParseIntervention(text).Find<ChannelScaling>()->layers;
  }
  if (is_code && model_layers > 25) return {false, {{10, 25}}};
  if (options.Text("preset") == "paper") {
    if (const auto published = PublishedLayers(model_layers)) return *published;
  }
  return MiddleLayers(model_layers);
}

// Returns whether random text, which never has a chat template, begins with BOS.
bool ReadSearchBos(const Tokenizer& tokenizer, BosRule rule) {
  return rule == BosRule::kOn || (rule == BosRule::kAuto && tokenizer.add_bos());
}

// Returns the loss of the variant, changed by the given options.
ValidationLoss ReadLoss(const OptionSet& options, bool is_code) {
  ValidationLoss loss = is_code ? kCodeLoss : ValidationLoss();
  if (options.IsSet("loss")) loss.per_token = options.Text("loss") == "mean";
  if (options.IsSet("example-places")) loss.one_place = options.Text("example-places") == "one";
  return loss;
}

std::optional<ValidationRequest> ReadValidation(const OptionSet& options, const Decoder& decoder) {
  const ChannelPreset preset = ReadPreset(options);
  const bool is_code = options.Text("variant") == "code";
  const std::string kind = ValidationKind(options);
  if (kind == "none") return std::nullopt;
  constexpr const char* kList = "list:lines=20";
  // If the answers of the list task are not single tokens, the default is another task.
  const bool is_list =
      kind == "list" && (options.IsSet("validate") || FitsTokenizer(decoder.tokenizer(), kList));
  ValidationRequest request;
  request.plan.seed = static_cast<uint64_t>(options.Integer("seed") + kValidationSeedOffset);
  const auto task = MakeTaskFor(decoder.tokenizer(), is_list ? kList : "kv:pairs=" + preset.pairs,
                                request.plan.seed);
  request.plan.task = task->name();
  request.plan.examples =
      IntegerOr(options, "examples", is_list ? preset.list_examples : preset.key_value_examples);
  const bool preset_places = !is_list && !options.IsSet("places");
  request.plan.places =
      ReadPlaces(preset_places ? preset.key_value_places : options.Text("places"), *task);
  request.plan.format = ReadFormat(options);
  request.plan.loss = ReadLoss(options, is_code);
  request.plan.layers = ReadLayers(options, is_code, decoder.config().layers);
  request.factors = ReadFactors(options, is_code);
  request.control = options.Flag("control");
  return request;
}

}  // namespace

FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder) {
  FindChannelsRun run;
  const bool is_code = options.Text("variant") == "code";
  run.search =
      OptionsOf(is_code ? SearchVariant::kCode : SearchVariant::kPaper, decoder->config().layers);
  run.search.ranking = FindRanking(options.Text("ranking")).ranking;
  run.search.threshold = IntegerOr(options, "threshold", run.search.threshold);
  run.search.trend_skip = IntegerOr(options, "trend-skip", run.search.trend_skip);
  run.search.smoothness_skip = IntegerOr(options, "smoothness-skip", run.search.smoothness_skip);
  run.search.smoothing_window = IntegerOr(options, "smoothing", run.search.smoothing_window);
  run.search.states.seed = static_cast<uint64_t>(options.Integer("seed"));
  run.search.states.prompts = IntegerOr(options, "prompts", ReadPreset(options).prompts);
  run.search.states.tokens = options.Integer("tokens");
  const PromptFormat format = ReadFormat(options);
  CheckPromptFormat(decoder->tokenizer(), format);
  run.search.states.bos = ReadSearchBos(decoder->tokenizer(), format.bos);
  run.top = options.Integer("top");
  run.validation = ReadValidation(options, *decoder);
  run.decoder = std::move(decoder);
  return run;
}

}  // namespace midscope

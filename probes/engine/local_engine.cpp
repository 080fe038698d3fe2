// SPDX-License-Identifier: MIT
#ifdef __linux__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/timing.h"
#include "core/decoder/hooks.h"
#include "core/intervention/term_type.h"
#include "core/run/patch_sources.h"
#include "core/run/what_if_pair.h"
#include "core/terms/intervention_text.h"
#include "data/published/tuning_recipe.h"
#include "kernels/check.h"
#include "probes/engine/engine.h"
#include "probes/engine/generate_text.h"
#include "probes/engine/kept_samples.h"
#include "probes/engine/loaded_prompts.h"
#include "probes/engine/reply_cache.h"
#include "probes/engine/run_probe.h"
#include "probes/engine/scan_so_far.h"
#include "probes/engine/settled_outcomes.h"
#include "probes/engine/what_if_records.h"
#include "probes/measure/builtin/model_positions.h"
#include "probes/measure/builtin/probe_registry.h"
#include "probes/measure/builtin/probes.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/find_channels.h"
#include "probes/measure/channels/prompt_channels.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/sweep/sweep.h"

namespace midscope {
namespace {

// Notes whether a hook of the caller may change the run; the outcome is then not the setting's.
class NotedHook : public Hook {
 public:
  NotedHook(Hook* hook, bool* writes) : hook_(hook), writes_(writes) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const HookRequest request = hook_->Request(point, sequence);
    *writes_ = *writes_ || request.access == HookAccess::kWrite;
    return request;
  }
  void OnActivation(HookView& view) override { hook_->OnActivation(view); }

 private:
  Hook* hook_;
  bool* writes_;
};

// Memory limit for cached what-if replies: about 120 settings for 300 tokens, or six for 8,000.
constexpr size_t kReplyBytes = size_t{64} << 20;
// Minimum time between two returns of freed memory to the system, which take some milliseconds.
constexpr std::chrono::seconds kReturnInterval{10};

// The current prompts, and the data cached for them.
struct Loaded {
  LoadedPrompts prompts;
  std::unique_ptr<WhatIfPair> kept;       // created by the first what-if
  std::shared_ptr<PatchSources> sources;  // sources of patches
  ReplyCache replies{kReplyBytes};        // replies of what-ifs
  KeptSweeps sweeps;                      // comparisons and scans
  KeptProbes probes;                      // probes over samples
  std::string settled_key;                // key of the prompts in LocalEngine::settled_
};

// Returns freed memory to the system, because glibc keeps freed blocks of up to 32 MiB, also from
// closed models: after opening twelve models, blocks of half a model's size.
void ReturnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Adds origin attributes to a record of means, without a setting because settings are on an axis.
Record MeansWithOrigin(const LoadedPrompts& loaded, const SweepPlan& plan,
                       const SweepResult& result) {
  Record record = MeansRecord(plan, result);
  WriteOrigin(OriginOfSamples(loaded), record);
  return record;
}

RecordOrigin OriginOfModel(const Decoder& decoder) {
  RecordOrigin origin;
  origin.sample = -1;
  origin.model_hash = decoder.hash();
  origin.dtype = DtypeName(decoder.options().dtype);
  return origin;
}

OptionSet ChannelOptionsOf(const std::string& json) {
  OptionSet options(ChannelOptions());
  options.FromJson(json);
  CheckChannelOptions(options);
  return options;
}

class LocalEngine : public Engine {
 public:
  explicit LocalEngine(ProbeRegistry probes) : probes_(std::move(probes)) {}

  ModelSummary Open(const OpenRequest& request, const JobContext& context) override;
  std::vector<Record> SetPrompt(const PromptRequest& request, const JobContext& context) override;
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override;
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override;
  Record Compare(const CompareRequest& request, const std::function<void(const Record&)>& partial,
                 const JobContext& context) override;
  Record Scan(const ScanRequest& request, const std::function<void(const Record&)>& partial,
              const JobContext& context) override;
  std::vector<Record> SearchChannels(const ChannelSearchRequest& request,
                                     const std::function<void(const Record&)>& partial,
                                     const JobContext& context) override;
  Record PromptChannels(const PromptChannelsRequest& request, const JobContext& context) override;
  std::vector<Record> Preview(const PromptRequest& request) const override;
  std::vector<Record> ProbeSamples(const ProbeSamplesRequest& request,
                                   const std::function<void(const Record&)>& partial,
                                   const JobContext& context) override;
  Record Generate(const GenerateRequest& request, const std::function<void(const Record&)>& partial,
                  const JobContext& context) override;
  Record MeasureLearnedPositions(const JobContext& context) const override;
  Provenance Describe() const override;

 private:
  const Decoder& RequireModel() const;
  // Returns the open model's decoder; null if no model is open. Thread-safe.
  std::shared_ptr<const Decoder> OpenDecoder() const;
  Loaded& RequirePromptRequest();
  const Prompt& RequirePrompt(size_t place);
  void ReturnFreedMemoryAtTimes();
  WhatIfSource Source() const;
  // Returns the records of RecordsOfPlace with origin attributes.
  std::vector<Record> OfPlace(const WhatIfRequest& request, WhatIfOutcome outcome,
                              int64_t layers_done, const Trace* trace);
  // Returns the stored outcome of the setting on the prompts; stores that of `result` if there is
  // none.
  const SettledOutcome& Settle(const Intervention& intervention, const WhatIfResult& result);

  ProbeRegistry probes_;
  mutable std::mutex open_mutex_;  // guards writes of decoder_, and reads on other threads
  std::shared_ptr<const Decoder> decoder_;
  Loaded loaded_;
  KeptChannelSearch channels_;                      // for the open model
  SettledOutcomes settled_;                         // outcomes for current and earlier prompts
  std::chrono::steady_clock::time_point returned_;  // when freed memory was last returned
};

const Decoder& LocalEngine::RequireModel() const {
  MIDSCOPE_CHECK(decoder_, "no model is open");
  return *decoder_;
}

// Returns freed memory from time to time, because buffers of runs and traces of earlier prompts
// have different sizes and fragment the heap.
void LocalEngine::ReturnFreedMemoryAtTimes() {
  const auto now = std::chrono::steady_clock::now();
  if (now - returned_ < kReturnInterval) return;
  ReturnFreedMemory();
  returned_ = now;
}

Loaded& LocalEngine::RequirePromptRequest() {
  RequireModel();
  MIDSCOPE_CHECK(!loaded_.prompts.prompts.empty(), "no prompt is set");
  return loaded_;
}

const Prompt& LocalEngine::RequirePrompt(size_t place) {
  return RequirePromptRequest().prompts.prompts.at(place);
}

ModelSummary LocalEngine::Open(const OpenRequest& request, const JobContext& context) {
  // Opens the new model before closing the old one, which stays open if that fails.
  std::shared_ptr<const Decoder> decoder =
      midscope::OpenDecoder(request.model, ReadDecoderOptions(request), context);
  loaded_ = Loaded();
  channels_ = KeptChannelSearch();
  settled_ = SettledOutcomes();
  {
    const std::lock_guard lock(open_mutex_);
    decoder_ = std::move(decoder);
  }
  ReturnFreedMemory();
  ModelSummary summary{decoder_->config(), decoder_->path(), DtypeName(decoder_->options().dtype),
                       ProductsName(decoder_->options().products)};
  summary.weights = WeightStorageName(decoder_->options().weights);
  const Placement& placement = decoder_->options().placement;
  summary.device = placement.shares.size() == 1 ? DeviceText(placement.shares.front().device)
                                                : PrintPlacement(placement);
  summary.devices = FactsOf(placement);
  summary.sliding_window = request.sliding_window;
  summary.probes = Offers(probes_);
  summary.has_learned_positions = decoder_->config().positions == PositionKind::kLearned;
  try {
    summary.recipe = RecipeOfModel(decoder_->path());
  } catch (const Error&) {  // the recipe is unreadable; opening the model has logged that
    summary.recipe.clear();
  }
  return summary;
}

std::vector<Record> LocalEngine::SetPrompt(const PromptRequest& request,
                                           const JobContext& context) {
  const Decoder& decoder = RequireModel();
  context.ThrowIfCancelled();
  Loaded loaded;
  loaded.prompts = LoadPrompts(decoder, request, context);
  loaded.sources =
      std::make_shared<PatchSources>(decoder, PatchPromptsOf(loaded.prompts, decoder.tokenizer()));
  loaded.settled_key = SettledKeyOf(loaded.prompts);
  loaded_ = std::move(loaded);
  ReturnFreedMemoryAtTimes();
  return PromptRecords(loaded_.prompts, decoder.tokenizer());
}

std::shared_ptr<const Decoder> LocalEngine::OpenDecoder() const {
  const std::lock_guard lock(open_mutex_);
  return decoder_;
}

std::vector<Record> LocalEngine::Preview(const PromptRequest& request) const {
  const std::shared_ptr<const Decoder> decoder = OpenDecoder();
  if (!decoder) throw UsageError("preview", "a model must be open to show tokens", "Open one");
  return PromptRecords(LoadPrompts(*decoder, request, {}), decoder->tokenizer());
}

CaptureRunReply LocalEngine::CaptureRun(const CaptureRunRequest& request,
                                        const JobContext& context) {
  // The prompt includes its answer, which some probes need, so that numbers are equal to those of
  // `midscope probe`.
  const Prompt& prompt = RequirePrompt(request.place);
  // Omits the probe last_logits, which windows do not draw: 49,152 numbers per run.
  ProbeRegistry probes;
  for (const ProbeType& type : probes_.types()) {
    if (type.name != kLastLogits || request.last_logits) probes.Add(type);
  }
  OptionSet options(probes.Options());
  std::string channels;
  for (const int64_t channel : request.channels) {
    channels += fmt::format("{}{}", channels.empty() ? "" : ",", channel);
  }
  options.FromJson(request.probe_options);
  options.SetText("channels", channels);
  CaptureRunReply reply;
  bool changed = false;  // whether a hook changed the run
  std::vector<NotedHook> noted;
  std::vector<Hook*> hooks;
  noted.reserve(request.hooks.size());
  for (Hook* hook : request.hooks) hooks.push_back(&noted.emplace_back(hook, &changed));
  const auto start = std::chrono::steady_clock::now();
  reply.records = RunProbesApart(
      *decoder_, prompt,
      loaded_.sources->Give(WithoutNeutralTerms(request.intervention), prompt, context),
      probes.Selected(options), options, context, reply.failures, hooks);
  reply.seconds = SecondsSince(start);
  const auto* settled =
      changed ? nullptr : settled_.Find(loaded_.settled_key, request.intervention);
  if (settled) ReplaceBySettled(*settled, request.place, reply.records);
  NoteOptions(probes, options, reply.records);
  const RecordOrigin origin = OriginOf(loaded_.prompts, request.intervention, request.place);
  for (Record& record : reply.records) WriteOrigin(origin, record);
  return reply;
}

WhatIfSource LocalEngine::Source() const {
  return {*decoder_, loaded_.prompts.prompts, loaded_.prompts.places};
}

std::vector<Record> LocalEngine::OfPlace(const WhatIfRequest& request, WhatIfOutcome outcome,
                                         int64_t layers_done, const Trace* trace) {
  std::vector<Record> records =
      RecordsOfPlace(Source(), request, std::move(outcome), layers_done, trace);
  if (const auto* settled = settled_.Find(loaded_.settled_key, request.intervention))
    ReplaceBySettled(*settled, request.place, records);
  const RecordOrigin origin = OriginOf(loaded_.prompts, request.intervention, request.place);
  for (Record& record : records) WriteOrigin(origin, record);
  return records;
}

const SettledOutcome& LocalEngine::Settle(const Intervention& intervention,
                                          const WhatIfResult& result) {
  const std::string& key = loaded_.settled_key;
  if (const auto noise = LargestNoise(result)) settled_.NoteNoise(key, *noise);
  if (const auto* known = settled_.Find(key, intervention)) return *known;
  SettledOutcome settled;
  settled.outcome = OutcomeOverPlaces(Source(), intervention, result);
  for (size_t place = 0; place < result.outcomes.size(); ++place)
    settled.of_places.push_back(AnswerRecordsOf(Source(), place, result.outcomes[place]));
  return settled_.Add(key, intervention, std::move(settled));
}

WhatIfReply LocalEngine::WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                                const JobContext& context) {
  const auto start = std::chrono::steady_clock::now();
  Loaded& loaded = RequirePromptRequest();
  RequirePrompt(request.place);
  context.ThrowIfCancelled();
  if (const WhatIfReply* known = loaded.replies.Find(request)) {
    WhatIfReply reply = *known;
    reply.cost = CostOfKnown(reply.cost, decoder_->config().layers, SecondsSince(start));
    return reply;
  }
  for (const Prompt& prompt : loaded.prompts.prompts)
    CheckPromptFits(decoder_->config(), prompt, request.intervention);
  if (!loaded.kept) {
    loaded.kept = std::make_unique<WhatIfPair>(decoder_, loaded.prompts.prompts,
                                               loaded.prompts.request.kept_limit,
                                               /*position_awareness=*/true);
    loaded.kept->TakePatchesFrom(loaded.sources);
    loaded.kept->RunLastRowsAlone();
  }
  WhatIfShown shown;
  shown.prompt = request.place;
  if (partial) {
    shown.partial = [&](const WhatIfPart& part) {
      partial({OfPlace(request, part.outcome, part.layers_done, part.trace),
               {.seconds = SecondsSince(start)}});
    };
  }
  WhatIfResult result = loaded.kept->Evaluate(WithoutNeutralTerms(request.intervention), context,
                                              request.attention, &shown);
  WhatIfReply reply;
  reply.cost = CostOf(result);
  Record outcome = Settle(request.intervention, result).outcome;
  NameSetting(request.intervention, outcome);
  if (const auto noise = settled_.NoiseOf(loaded.settled_key))
    outcome.attributes[kAnswerNllNoise] = *noise;
  reply.records = OfPlace(request, std::move(result.outcomes.at(request.place)),
                          decoder_->config().layers, loaded.kept->trace(request.place));
  WriteOrigin(OriginOf(loaded.prompts, request.intervention, std::nullopt), outcome);
  reply.records.insert(reply.records.begin(), std::move(outcome));
  loaded.replies.Add(request, reply);
  ReturnFreedMemoryAtTimes();
  return reply;
}

Record LocalEngine::Compare(const CompareRequest& request,
                            const std::function<void(const Record&)>& partial,
                            const JobContext& context) {
  RequirePromptRequest();
  SweepRun run = RunOfSamples(decoder_, loaded_.prompts, request.samples);
  for (const Intervention& intervention : request.settings) {
    run.plan.settings.push_back({"", intervention});
    run.plan.settings.back().text = run.plan.settings.back().canonical();
  }
  const SweepPlan plan = run.plan;
  const auto means_of = [&](const SweepResult& result) {
    Record means = MeansWithOrigin(loaded_.prompts, plan, result);
    const auto& others = loaded_.sweeps.comparisons();
    AddMeansBeside(others, request.beside, result.done(), plan.places, means);
    if (request.against) SetDifferences(others, {plan, result}, *request.against, means);
    AddSamples(others, {plan, result}, means);
    return means;
  };
  run.on_sample = [&](const SweepResult& so_far) {
    if (partial && !so_far.outcomes.empty()) partial(means_of(so_far));
  };
  return means_of(loaded_.sweeps.Run(std::move(run), context));
}

Record LocalEngine::Scan(const ScanRequest& request,
                         const std::function<void(const Record&)>& partial,
                         const JobContext& context) {
  RequirePromptRequest();
  SweepRun run = RunOfSamples(decoder_, loaded_.prompts, request.samples, request.places);
  run.plan.scan =
      MakeScan(FindScanKind(request.over), request.term, request.range, decoder_->config());
  if (!request.base.empty()) run.plan.scan->base = PrintIntervention(request.base);
  for (const std::string& setting : ScanSettings(*run.plan.scan))
    run.plan.settings.push_back(ReadSetting(setting));
  run.order = ScanOrder(*run.plan.scan, request.first);
  const SweepPlan plan = run.plan;
  const RecordOrigin origin = OriginOfSamples(loaded_.prompts);
  ScanSoFar so_far(plan, FirstSamples(loaded_.sweeps.Finished(plan), plan.samples),
                   loaded_.sweeps.Unfinished(plan), [&](Record record) {
                     WriteOrigin(origin, record);
                     if (partial) partial(record);
                   });
  so_far.Watch(run, context);
  JobContext quiet = context;
  quiet.progress = nullptr;  // `so_far` reports the progress instead
  Record record = CompleteScan(plan, loaded_.sweeps.Run(std::move(run), quiet));
  WriteOrigin(origin, record);
  return record;
}

std::vector<Record> LocalEngine::SearchChannels(const ChannelSearchRequest& request,
                                                const std::function<void(const Record&)>& partial,
                                                const JobContext& context) {
  RequireModel();
  FindChannelsRun run = ReadChannelOptions(ChannelOptionsOf(request.options), decoder_);
  const RecordOrigin origin = OriginOfModel(*decoder_);
  run.on_partial = [&](const Record& so_far) {
    Record record = so_far;
    WriteOrigin(origin, record);
    if (partial) partial(record);
  };
  std::vector<Record> records = channels_.Run(std::move(run), context);
  // Drops the means of the validation sweep: the window's own means have the same record name.
  std::erase_if(records, [](const Record& record) { return record.name == kOutcomeMeans; });
  for (Record& record : records) WriteOrigin(origin, record);
  return records;
}

Record LocalEngine::PromptChannels(const PromptChannelsRequest& request,
                                   const JobContext& context) {
  const Prompt& prompt = RequirePrompt(request.place);
  OptionSet options = ChannelOptionsOf(request.options);
  options.SetText("validate", "none");
  const FindChannelsRun run = ReadChannelOptions(options, decoder_);
  Record record = RankPromptChannels(*decoder_, prompt,
                                     loaded_.sources->Give(request.intervention, prompt, context),
                                     run.search, run.top, context);
  WriteOrigin(OriginOf(loaded_.prompts, request.intervention, request.place), record);
  return record;
}

std::vector<Record> LocalEngine::ProbeSamples(const ProbeSamplesRequest& request,
                                              const std::function<void(const Record&)>& partial,
                                              const JobContext& context) {
  Loaded& loaded = RequirePromptRequest();
  const SweepRun run = RunOfSamples(decoder_, loaded.prompts, request.samples);
  ProbeBatch batch;
  for (int64_t sample = 0; sample < run.plan.samples; ++sample) batch.samples.push_back(sample);
  batch.places = run.plan.places;
  batch.prompt = run.prompt_at;
  if (!batch.prompt) {
    batch.prompt = [&loaded](int64_t /*sample*/, int64_t /*place*/) {
      return loaded.prompts.prompts.front();
    };
  }
  OptionSet options(probes_.Options());
  options.FromJson(request.probe_options);
  RecordOrigin origin = OriginOfSamples(loaded.prompts);
  origin.intervention = PrintIntervention(request.intervention);
  const auto with_origin = [&](const Record& so_far) {
    Record record = so_far;
    WriteOrigin(origin, record);
    if (partial) partial(record);
  };
  std::vector<Record> records =
      loaded.probes.Run(*decoder_, batch, WithoutNeutralTerms(request.intervention), probes_,
                        options, with_origin, context);
  for (Record& record : records) WriteOrigin(origin, record);
  return records;
}

Record LocalEngine::Generate(const GenerateRequest& request,
                             const std::function<void(const Record&)>& partial,
                             const JobContext& context) {
  const Prompt& prompt = RequirePrompt(request.place);
  CheckPromptFits(decoder_->config(), prompt, request.intervention);
  const RecordOrigin origin = OriginOf(loaded_.prompts, request.intervention, request.place);
  const auto with_origin = [&](const Record& so_far) {
    Record record = so_far;
    WriteOrigin(origin, record);
    if (partial) partial(record);
  };
  Record record =
      GenerateText(*decoder_, prompt, loaded_.sources->Give(request.intervention, prompt, context),
                   request.new_tokens, with_origin, context);
  WriteOrigin(origin, record);
  return record;
}

Record LocalEngine::MeasureLearnedPositions(const JobContext& context) const {
  const std::shared_ptr<const Decoder> decoder = OpenDecoder();
  const std::shared_ptr<const PositionTable> table = decoder ? LearnedTableOf(*decoder) : nullptr;
  if (!table) throw UsageError("model", "it has no embeddings of positions");
  return LearnedPositions(*table, context);
}

Provenance LocalEngine::Describe() const {
  return MakeProvenance(RequireModel(), "", static_cast<int64_t>(loaded_.prompts.request.seed), "");
}

}  // namespace

std::unique_ptr<Engine> MakeLocalEngine() { return MakeLocalEngine(BuiltInProbes()); }

std::unique_ptr<Engine> MakeLocalEngine(ProbeRegistry probes) {
  return std::make_unique<LocalEngine>(std::move(probes));
}

}  // namespace midscope

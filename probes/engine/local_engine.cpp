// SPDX-License-Identifier: MIT
#ifdef __linux__
#include <malloc.h>
#endif

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/intervention/intervention_text.h"
#include "core/plan/awareness_rule.h"
#include "core/run/what_if_pair.h"
#include "core/tokenizer/prompt_builder.h"
#include "data/tasks/task.h"
#include "kernels/check.h"
#include "probes/base/record_origin.h"
#include "probes/builtin/hidden_channels_probe.h"
#include "probes/builtin/last_query_attention_probe.h"
#include "probes/builtin/next_tokens_probe.h"
#include "probes/builtin/position_awareness_probe.h"
#include "probes/builtin/position_ratio_probe.h"
#include "probes/engine/engine.h"
#include "probes/engine/run_probe.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/plugin/probe_registry.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/means_beside.h"
#include "probes/sweep/sweep.h"

namespace midscope {
namespace {

// Number of most likely tokens that a what-if lists.
constexpr int64_t kNextTokens = 10;

// A prompt request with its prompts.
struct Loaded {
  PromptRequest prompt_request;
  std::unique_ptr<Task> task;        // null for own text
  std::vector<int64_t> places;       // {1} for own text
  std::vector<Prompt> prompts;       // one per place
  RecordOrigin origin;               // of all places; without a setting
  std::unique_ptr<WhatIfPair> kept;  // created by the first what-if
  // Samples of cancelled or finished comparisons, by their settings: comparisons resume from these.
  std::map<std::string, Comparison> compared;
};

constexpr size_t kKeptComparisons = 16;

// glibc keeps freed blocks of up to 32 MiB, also those of a closed model: after twelve openings
// half a model's size.
void ReturnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::string ComparisonKey(const SweepPlan& plan) {
  std::string key;
  for (const std::string& setting : plan.CanonicalSettings()) key += setting + '\n';
  return key;
}

// Appends `more`, whose samples are counted from `offset` on, to `before`.
SweepResult Joined(SweepResult before, const SweepResult& more, int64_t offset) {
  for (SampleOutcome outcome : more.outcomes) {
    outcome.sample += offset;
    before.outcomes.push_back(std::move(outcome));
  }
  for (const auto& [sample, why] : more.failures) before.failures[sample + offset] = why;
  return before;
}

OwnText OwnTextOf(const PromptRequest& request) {
  OwnText own{request.text, request.spans, request.answer};
  if (request.gold_end > request.gold_begin) {
    own.spans.push_back({{"gold", request.gold_begin, request.gold_end}, ""});
  }
  return own;
}

// With the setting, and of one place where `place` is given.
RecordOrigin OriginOf(const Loaded& loaded, const Intervention& intervention,
                      std::optional<size_t> place) {
  RecordOrigin origin = loaded.origin;
  origin.intervention = PrintIntervention(intervention);
  if (place) {
    origin.place = loaded.task ? loaded.places.at(*place) : 0;
    origin.prompt_hash = PromptsHash({loaded.prompts.at(*place)});
  }
  return origin;
}

// Means have their settings on an axis, and are not of one sample.
Record MeansWithOrigin(const Loaded& loaded, const SweepPlan& plan, const SweepResult& result) {
  RecordOrigin origin = loaded.origin;
  origin.sample = -1;
  origin.subject_hash.clear();
  Record record = MeansRecord(plan, result);
  WriteOrigin(origin, record);
  return record;
}

// Options that the request sets itself, and those of records that a window does not draw.
bool IsOffered(const ProbeType& type) {
  if (type.name == kHiddenChannelsRecord || type.name == kLastLogits) return false;
  return type.on_request || !type.options.empty();
}

std::vector<ProbeOffer> Offers(const ProbeRegistry& probes) {
  std::vector<ProbeOffer> offers;
  for (const ProbeType& type : probes.types()) {
    if (!IsOffered(type)) continue;
    offers.push_back({type.name, type.summary, type.source, type.departures, type.limits,
                      type.plugin, type.on_request, type.options});
  }
  return offers;
}

// Writes the probe's options to each record.
void NoteOptions(const ProbeRegistry& probes, const OptionSet& options,
                 std::vector<Record>& records) {
  for (const ProbeType& type : probes.types()) {
    if (type.options.empty()) continue;
    OptionSet own(type.options);
    for (const Parameter& option : type.options) {
      if (options.IsSet(option.name)) own.Set(option.name, options.Value(option.name));
    }
    for (Record& record : records) {
      if (record.name == type.name) record.attributes["options"] = own.ToJson();
    }
  }
}

// Hidden channels of the prompt's rows from a trace of all layers.
Record KeptChannels(const ModelConfig& config, const Trace& trace,
                    const std::vector<int64_t>& channels, int64_t tokens) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(config.layers * tokens) * channels.size());
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    for (const int64_t channel : channels) {
      // The output of this layer is the next one's input.
      const std::vector<float> rows = trace.Channel(layer + 1, channel);
      values.insert(values.end(), rows.begin(), rows.begin() + tokens);
    }
  }
  return HiddenChannelsRecord(config, channels, tokens, std::move(values));
}

class LocalEngine : public Engine {
 public:
  explicit LocalEngine(ProbeRegistry probes) : probes_(std::move(probes)) {}

  ModelSummary Open(const OpenRequest& request, const JobContext& context) override;
  std::vector<Record> SetPrompt(const PromptRequest& request, const JobContext& context) override;
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override;
  WhatIfReply WhatIf(const WhatIfRequest& request, const JobContext& context) override;
  Record Compare(const CompareRequest& request, const std::function<void(const Record&)>& partial,
                 const JobContext& context) override;
  Provenance Describe() const override;

 private:
  const Decoder& RequireModel() const;
  Loaded& RequirePromptRequest();
  const Prompt& RequirePrompt(size_t place);

  ProbeRegistry probes_;
  std::shared_ptr<const Decoder> decoder_;
  Loaded loaded_;
};

const Decoder& LocalEngine::RequireModel() const {
  MIDSCOPE_CHECK(decoder_, "no model is open");
  return *decoder_;
}

Loaded& LocalEngine::RequirePromptRequest() {
  RequireModel();
  MIDSCOPE_CHECK(!loaded_.prompts.empty(), "no prompt is set");
  return loaded_;
}

const Prompt& LocalEngine::RequirePrompt(size_t place) {
  return RequirePromptRequest().prompts.at(place);
}

ModelSummary LocalEngine::Open(const OpenRequest& request, const JobContext& context) {
  // The new model is opened first: if that fails, the old one is kept.
  std::shared_ptr<const Decoder> decoder =
      Decoder::Open(request.model, ReadDecoderOptions(request), context);
  loaded_ = Loaded();
  decoder_ = std::move(decoder);
  ReturnFreedMemory();
  ModelSummary summary{decoder_->config(), decoder_->path(), DtypeName(decoder_->options().dtype)};
  summary.weights = WeightStorageName(decoder_->options().weights);
  const Placement& placement = decoder_->options().placement;
  summary.device = placement.shares.size() == 1 ? DeviceText(placement.shares.front().device)
                                                : PrintPlacement(placement);
  summary.sliding_window = request.sliding_window;
  summary.probes = Offers(probes_);
  return summary;
}

std::vector<Record> LocalEngine::SetPrompt(const PromptRequest& request,
                                           const JobContext& context) {
  const Decoder& decoder = RequireModel();
  context.ThrowIfCancelled();
  Loaded loaded;
  loaded.prompt_request = request;
  CheckPromptFormat(decoder.tokenizer(), request.format);
  if (request.task.empty()) {
    loaded.places = {1};
    loaded.prompts = {OwnPrompt(decoder.tokenizer(), OwnTextOf(request), request.format)};
    LogBytesWithoutToken(loaded.prompts.front(), context);
    LogPromptNotes(loaded.prompts.front(), request.format, context);
  } else {
    loaded.task = MakeTaskFor(decoder.tokenizer(), request.task, request.seed);
    loaded.places = ReadPlaces(request.places, *loaded.task);
    loaded.prompts = TaskPrompts(decoder.tokenizer(), *loaded.task, loaded.places, request.sample,
                                 request.format);
  }
  loaded.origin = {.task = loaded.task ? loaded.task->name() : "",
                   .seed = loaded.task ? static_cast<int64_t>(request.seed) : 0,
                   .sample = loaded.task ? request.sample : 0,
                   .subject_hash = PromptsHash(loaded.prompts),
                   .model_hash = decoder.hash(),
                   .dtype = DtypeName(decoder.options().dtype)};
  std::vector<Record> records;
  for (size_t i = 0; i < loaded.prompts.size(); ++i) {
    const Prompt& prompt = loaded.prompts[i];
    const int64_t place = loaded.task ? loaded.places[i] : 0;
    records.push_back(PromptRecord(prompt, decoder.tokenizer(), place));
    RecordOrigin origin = loaded.origin;
    origin.place = place;
    origin.prompt_hash = PromptsHash({prompt});
    WriteOrigin(origin, records.back());
    NoteFormat(prompt, decoder.tokenizer(), request.format, records.back());
    records.back().attributes["sent"] = SentLine(prompt, decoder.tokenizer(), request.format);
  }
  loaded_ = std::move(loaded);
  return records;
}

CaptureRunReply LocalEngine::CaptureRun(const CaptureRunRequest& request,
                                        const JobContext& context) {
  // With its answer: some probes need it, and the numbers equal those of `midscope probe`.
  const Prompt& prompt = RequirePrompt(request.place);
  // A window does not draw all logits: 49,152 numbers per run are left out.
  ProbeRegistry probes;
  for (const ProbeType& type : probes_.types()) {
    if (type.name != kLastLogits) probes.Add(type);
  }
  OptionSet options(probes.Options());
  std::string channels;
  for (const int64_t channel : request.channels) {
    channels += (channels.empty() ? "" : ",") + std::to_string(channel);
  }
  options.FromJson(request.probe_options);
  options.SetText("channels", channels);
  CaptureRunReply reply;
  reply.records = RunProbesApart(*decoder_, prompt, request.intervention, probes.Selected(options),
                                 options, context, reply.failures);
  NoteOptions(probes, options, reply.records);
  const RecordOrigin origin = OriginOf(loaded_, request.intervention, request.place);
  for (Record& record : reply.records) WriteOrigin(origin, record);
  return reply;
}

WhatIfReply LocalEngine::WhatIf(const WhatIfRequest& request, const JobContext& context) {
  Loaded& loaded = RequirePromptRequest();
  RequirePrompt(request.place);
  for (const Prompt& prompt : loaded.prompts)
    CheckPromptFits(decoder_->config(), prompt, request.intervention);
  if (!loaded.kept) {
    loaded.kept =
        std::make_unique<WhatIfPair>(decoder_, loaded.prompts, loaded.prompt_request.kept_limit,
                                     /*position_awareness=*/true);
  }
  WhatIfResult result = loaded.kept->Evaluate(request.intervention, context, request.attention);
  std::vector<double> nll;
  std::vector<uint8_t> correct;
  for (size_t i = 0; i < result.outcomes.size(); ++i) {
    const AnswerScore& score = result.outcomes[i].score;
    nll.push_back(AnswerNll(loaded.prompts[i], score));
    correct.push_back(score.correct ? 1 : 0);
  }
  WhatIfReply reply;
  reply.cost = {.seconds = result.seconds,
                .last_rows_only = result.last_rows_only,
                .first_layer = result.first_layer,
                .first_row = result.first_row,
                .share = result.share,
                .kept_bytes = result.kept.bytes,
                .kept_limit = result.kept.limit,
                .first_kept_layer = result.kept.first_layer};
  reply.records.push_back(OutcomeRecord({SweepSetting{"", request.intervention}.canonical()},
                                        loaded.places, std::move(nll), std::move(correct)));
  const bool beyond =
      std::any_of(loaded.prompts.begin(), loaded.prompts.end(), [&](const Prompt& prompt) {
        return PromptIsBeyondContext(decoder_->config(), prompt, request.intervention);
      });
  if (beyond) reply.records.back().attributes["beyond_context"] = int64_t{1};
  WhatIfOutcome& shown = result.outcomes.at(request.place);
  if (request.attention) {
    reply.records.push_back(LastQueryAttentionRecord(
        decoder_->config(), static_cast<int64_t>(loaded.prompts[request.place].ids.size()),
        std::move(shown.last_query_attention)));
  }
  reply.records.push_back(PositionAwarenessRecord(decoder_->config(),
                                                  AwarenessRule(request.intervention),
                                                  std::move(shown.position_awareness)));
  const Trace* kept = loaded.kept->trace(request.place);
  const auto tokens = static_cast<int64_t>(loaded.prompts[request.place].ids.size());
  if (!request.channels.empty() && kept && kept->first_layer() == 0) {
    reply.records.push_back(KeptChannels(decoder_->config(), *kept, request.channels, tokens));
  }
  reply.records.push_back(PositionRatioRecord(shown.position_ratio));
  reply.records.push_back(NextTokensRecord(decoder_->tokenizer(), shown.last_logits, kNextTokens));
  const RecordOrigin of_all = OriginOf(loaded, request.intervention, std::nullopt);
  const RecordOrigin of_one = OriginOf(loaded, request.intervention, request.place);
  for (Record& record : reply.records) {
    WriteOrigin(record.name == kOutcomeRecord ? of_all : of_one, record);
  }
  return reply;
}

Record LocalEngine::Compare(const CompareRequest& request,
                            const std::function<void(const Record&)>& partial,
                            const JobContext& context) {
  Loaded& loaded = RequirePromptRequest();
  SweepPlan plan;
  plan.task = loaded.task ? loaded.task->name() : "";
  plan.seed = loaded.prompt_request.seed;
  plan.format = loaded.prompt_request.format;
  plan.samples = loaded.task ? request.samples : 1;  // own text is one sample
  plan.places = loaded.places;
  for (const Intervention& intervention : request.settings) {
    plan.settings.push_back({"", intervention});
    plan.settings.back().text = plan.settings.back().canonical();
  }
  const std::string key = ComparisonKey(plan);
  if (!loaded.compared.contains(key) && loaded.compared.size() >= kKeptComparisons) {
    loaded.compared.clear();
  }
  Comparison& comparison = loaded.compared[key];
  comparison.plan = plan;
  SweepResult& kept = comparison.result;
  const int64_t done = kept.done();
  if (done >= plan.samples) return MeansWithOrigin(loaded, plan, FirstSamples(kept, plan.samples));
  const SweepResult before = kept;
  SweepRun run;
  run.decoder = decoder_;
  run.plan = plan;
  run.plan.samples = plan.samples - done;
  run.questions = [&](int64_t sample) {
    if (!loaded.task) return AnswerQuestions(loaded.prompts);
    return AnswerQuestions(TaskPrompts(decoder_->tokenizer(), *loaded.task, loaded.places,
                                       sample + done, loaded.prompt_request.format));
  };
  run.on_sample = [&](const SweepResult& so_far) {
    kept = Joined(before, so_far, done);
    if (!partial || kept.outcomes.empty()) return;
    Record means = MeansWithOrigin(loaded, plan, kept);
    AddMeansBeside(loaded.compared, request.beside, kept.done(), means);
    partial(means);
  };
  JobContext rest = context;
  rest.progress = [&](Progress progress) {
    progress.done += done;
    progress.total += done;
    if (context.progress) context.progress(progress);
  };
  try {
    RunSweep(run, rest);
  } catch (const Error&) {
    kept = before;  // a failed comparison can be repeated
    throw;
  }
  return MeansWithOrigin(loaded, plan, kept);
}

Provenance LocalEngine::Describe() const {
  return MakeProvenance(RequireModel(), "", static_cast<int64_t>(loaded_.prompt_request.seed), "");
}

}  // namespace

std::unique_ptr<Engine> MakeLocalEngine() { return MakeLocalEngine(BuiltInProbes()); }

std::unique_ptr<Engine> MakeLocalEngine(ProbeRegistry probes) {
  return std::make_unique<LocalEngine>(std::move(probes));
}

}  // namespace midscope

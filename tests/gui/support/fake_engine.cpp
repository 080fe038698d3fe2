// SPDX-License-Identifier: MIT
#include "tests/gui/support/fake_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/base/number_list.h"
#include "tests/gui/support/fake_records.h"

namespace midscope {
namespace {

constexpr char kModelHash[] = "planted";
constexpr char kDtype[] = "float32";

}  // namespace

int64_t FakeEngine::AnswerRank(double strength) {
  return std::max<int64_t>(0, 2 - static_cast<int64_t>(strength));
}

double FakeEngine::NextProbability(int64_t rank) {
  return 0.5 / static_cast<double>(int64_t{1} << rank);
}

double FakeEngine::Strength(const Intervention& intervention) {
  double strength = 0;
  if (intervention.Find<PositionInterpolation>()) strength = 1;
  if (intervention.Find<HeadRatioTable>()) strength = 2;
  if (intervention.Find<MsPoe>()) strength = 3;
  for (const ChannelScaling& scaling : intervention.All<ChannelScaling>())
    strength += 1 - scaling.factor;
  return strength;
}

float FakeEngine::Attention(int64_t layer, int64_t head, int64_t key, int64_t place,
                            double strength) {
  const double sink = key == 0 ? 0.5 : 0;
  const double near_gold = key / 10 == place - 1 ? 0.02 * (1 + strength) : 0;
  const double ripple = 0.001 * static_cast<double>(1 + (layer * 7 + head * 3 + key) % 11);
  return static_cast<float>(sink + near_gold + ripple);
}

bool FakeEngine::IsCounted(int64_t layer, int64_t head, int64_t key, double strength) {
  return (layer * 2 + head + key + static_cast<int64_t>(10 * strength)) % 6 == 0;
}

double FakeEngine::Threshold(double strength) { return 0.004 * (1 + strength); }

float FakeEngine::Score(int64_t layer, int64_t head, double strength) {
  return static_cast<float>(0.01 * static_cast<double>((layer * 5 + head * 3) % 13) +
                            0.05 * strength * static_cast<double>(head));
}

double FakeEngine::AnswerNll(int64_t place, double strength) {
  return 2.0 + 0.15 * static_cast<double>(place) - 0.1 * strength * static_cast<double>(place - 6);
}

ModelConfig FakeEngine::Config() {
  ModelConfig config;
  config.architecture = "llama";
  config.name = "Planted";
  config.layers = kLayers;
  config.heads = kHeads;
  config.key_value_heads = kKeyValueHeads;
  config.head_dim = 8;
  config.hidden = kHidden;
  config.trained_context = 2048;
  config.quantisation = "F32";
  return config;
}

ModelSummary FakeEngine::Open(const OpenRequest& request, const JobContext& context) {
  context.Report({"load weights", 1, 1, "tensors"});
  if (request.model.find("missing") != std::string::npos) {
    throw Failure("'" + request.model + "'", "no such file", "Give a .gguf file or 'embedded'");
  }
  ModelSummary summary;
  summary.config = Config();
  summary.path = request.model;
  summary.dtype = request.dtype;
  return summary;
}

std::vector<Record> FakeEngine::SetPrompt(const PromptRequest& prompt_request,
                                          const JobContext& context) {
  context.ThrowIfCancelled();
  if (prompt_request.task == "bad") throw UsageError("task 'bad'", "not known", "Use list or kv");
  std::vector<int64_t> places = prompt_request.places.empty()
                                    ? std::vector<int64_t>{1, 4, 6, 9, 11}
                                    : ParseNumberList("places", prompt_request.places, 1, 11);
  if (prompt_request.task.empty() && prompt_request.pieces.empty()) places = {1};
  control_->WaitAtGate(&FakeControl::hold_prompts_, context);
  places_ = std::move(places);
  origin_ = {.task = prompt_request.task,
             .seed = static_cast<int64_t>(prompt_request.seed),
             .sample = prompt_request.sample,
             .subject_hash = prompt_request.task + prompt_request.text + "/" +
                             std::to_string(prompt_request.sample),
             .model_hash = kModelHash,
             .dtype = kDtype};
  std::vector<Record> prompts;
  for (size_t i = 0; i < places_.size(); ++i) {
    prompts.push_back(PromptOf(places_[i]));
    Stamp({}, i, prompts.back());
    prompts.back().attributes.erase("intervention");
  }
  return prompts;
}

std::vector<Record> FakeEngine::Preview(const PromptRequest& prompt_request) const {
  if (prompt_request.text.find("bad") != std::string::npos)
    throw UsageError("own text", "it is bad", "Write another");
  const int64_t places = std::max<int64_t>(std::ssize(prompt_request.pieces), 1);
  std::vector<Record> prompts;
  for (int64_t place = 1; place <= places; ++place) {
    prompts.push_back(PromptOf(place));
    prompts.back().attributes["text"] =
        prompt_request.text + "@" + std::to_string(place) + prompt_request.question;
    prompts.back().attributes["pieces"] = std::ssize(prompt_request.pieces);
  }
  return prompts;
}

void FakeEngine::Stamp(const Intervention& intervention, std::optional<size_t> place,
                       Record& record) const {
  RecordOrigin origin = origin_;
  origin.intervention = PrintIntervention(intervention);
  if (place) {
    origin.place = places_.at(*place);
    origin.prompt_hash = origin.subject_hash + "@" + std::to_string(origin.place);
  }
  WriteOrigin(origin, record);
}

CaptureRunReply FakeEngine::CaptureRun(const CaptureRunRequest& request,
                                       const JobContext& context) {
  context.ThrowIfCancelled();
  {
    const std::lock_guard lock(control_->mutex_);
    ++control_->capture_runs_;
    if (!control_->capture_run_failure_.empty()) {
      throw Failure("run", std::exchange(control_->capture_run_failure_, ""),
                    "Try a shorter prompt");
    }
  }
  control_->CheckSetting(request.intervention);
  control_->WaitAtGate(&FakeControl::hold_capture_runs_, context);
  const double strength = Strength(request.intervention);
  CaptureRunReply reply;
  reply.seconds = control_->claimed_seconds();
  reply.records = {
      AttentionRecord(places_.at(request.place), strength),
      PerHead("position_awareness", "position_awareness_score",
              [&](int64_t layer, int64_t head) { return Score(layer, head, strength); }),
      PerHead("position_ratio", "position_ratio", [](int64_t, int64_t) { return 1.0F; }),
      CountedKeysRecord(strength),
      HiddenRecord(request.channels, strength),
      NextTokens(strength)};
  for (Record& record : reply.records) Stamp(request.intervention, request.place, record);
  return reply;
}

std::vector<Record> FakeEngine::OfPlace(const WhatIfRequest& request, int64_t layers_done) const {
  const double strength = Strength(request.intervention);
  std::vector<Record> records = {
      AttentionRecord(places_.at(request.place), strength),
      PerHead("position_ratio", "position_ratio", [](int64_t, int64_t) { return 1.0F; })};
  if (layers_done == kLayers) records.push_back(NextTokens(strength));
  if (control_->what_ifs_follow()) {
    records.push_back(
        PerHead("position_awareness", "position_awareness_score",
                [&](int64_t layer, int64_t head) { return Score(layer, head, strength); }));
    if (layers_done == kLayers) {
      records.push_back(HiddenRecord(request.channels, strength));
      records.push_back(CountedKeysRecord(strength));
    }
  }
  for (Record& record : records) {
    Stamp(request.intervention, request.place, record);
    if (layers_done == kLayers) continue;
    record.attributes["layers_done"] = layers_done;
    auto& values = std::get<std::vector<float>>(record.arrays.front().data);
    const auto each = static_cast<std::ptrdiff_t>(values.size()) / kLayers;
    std::fill(values.begin() + layers_done * each, values.end(), std::nanf(""));
  }
  return records;
}

WhatIfReply FakeEngine::WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                               const JobContext& context) {
  {
    const std::lock_guard lock(control_->mutex_);
    control_->what_ifs_.push_back(request.intervention);
    control_->changed_.notify_all();
  }
  control_->CheckSetting(request.intervention);
  if (const int64_t layers = control_->told_layers(); layers > 0 && partial) {
    partial({OfPlace(request, layers), {}});
  }
  control_->WaitAtGate(&FakeControl::hold_what_ifs_, context);
  WhatIfReply reply;
  reply.records = OfPlace(request, kLayers);
  reply.records.insert(reply.records.begin(),
                       OutcomeRecord(PrintIntervention(request.intervention), places_,
                                     Strength(request.intervention)));
  Stamp(request.intervention, std::nullopt, reply.records.front());
  reply.cost.seconds = 0.0125;
  reply.cost.last_rows_only = !request.intervention.All<ChannelScaling>().empty();
  return reply;
}

Record FakeEngine::Compare(const CompareRequest& request,
                           const std::function<void(const Record&)>& partial,
                           const JobContext& context) {
  context.ThrowIfCancelled();
  const int64_t half = std::max<int64_t>(request.samples / 2, 1);
  context.Report({"means", half, request.samples, "samples"});
  std::vector<Intervention> with_beside = request.settings;
  with_beside.insert(with_beside.end(), request.beside.begin(), request.beside.end());
  partial(MeansRecord(with_beside, places_, half));
  {
    const std::lock_guard lock(control_->mutex_);
    ++control_->comparisons_;
    control_->changed_.notify_all();
  }
  control_->WaitAtGate(&FakeControl::hold_comparisons_, context);
  return MeansRecord(request.settings, places_, request.samples);
}

Provenance FakeEngine::Describe() const {
  Provenance provenance;
  provenance.version = "test";
  provenance.architecture = "llama";
  provenance.model_hash = kModelHash;
  provenance.dtype = kDtype;
  return provenance;
}

}  // namespace midscope

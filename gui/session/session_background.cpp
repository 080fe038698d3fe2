// SPDX-License-Identifier: GPL-3.0-or-later
// Session: background work that pauses for every other request: scans, channel searches, text
// generation.

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/record_names.h"
#include "core/intervention/term_type.h"
#include "gui/base/head_quantities.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/prompt_channels.h"

namespace midscope {

// Session: scans and searches for channels, on random text and on the shown prompt. They pause for
// every other request, and continue from what is finished when nothing else is requested.

void Session::PostWork(Background& work) {
  work.waits = !EngineReady();
  if (!work.waits) work.ticket = Post(*work.request);
}

void Session::PauseWork(Background& work) {
  if (std::exchange(work.ticket, 0) == 0) return;
  work.waits = true;
  worker_.Cancel(work.kind, Side::kA);
}

void Session::StopWork(Background& work) {
  if (work.runs()) MarkLive(work.change);
  work.waits = false;
  work.ticket = 0;
  worker_.Cancel(work.kind, Side::kA);
}

// Takes the request and posts it; the caller has kept what is finished, or dropped it.
void Session::StartWork(Background& work, EngineRequest request) {
  worker_.Cancel(work.kind, Side::kA);
  work.request = std::move(request);
  MarkLive(work.change);
  PostWork(work);
}

void Session::Scan(const ScanRequest& request) {
  if (!HasPrompts()) return;
  // If the new request is for the shown scan, the scan's finished parts remain visible.
  if (!scan_.request || !std::get<ScanRequest>(*scan_.request).ScansTheSame(request))
    live_.scan.reset();
  StartWork(scan_, request);
}

void Session::SearchChannels(const ChannelSearchRequest& request) {
  if (!HasPrompts()) return;
  if (!search_.request || std::get<ChannelSearchRequest>(*search_.request) != request) {
    live_.channels.erase(kChannelSearchRecord);
    live_.channels.erase(kChannelValidationRecord);
  }
  StartWork(search_, request);
}

void Session::ContinueBackground() {
  if (GenerationMayRun()) PostGeneration();
  const bool quiet = pending_.empty() && !release_timer_.isActive() && !pause_timer_.isActive();
  if (!quiet || !EngineReady()) return;
  if (search_.waits) {
    PostWork(search_);
  } else if (scan_.waits) {
    PostWork(scan_);
  } else if (sample_probes_wanted_) {
    PostSampleProbes();
  }
}

void Session::DropScan() {
  if (!scan_.request) return;
  StopWork(scan_);
  scan_.request.reset();
  live_.scan.reset();
  MarkLive(Change::kScan);
}

void Session::DropChannels() {
  StopWork(search_);
  search_.request.reset();
  if (!live_.channels.empty()) MarkLive(Change::kChannels);
  live_.channels.clear();
}

void Session::DropPromptChannels() {
  if (live_.channels.erase(kPromptChannelsRecord) > 0) MarkLive(Change::kChannels);
}

void Session::OnScan(const EngineReply& reply) {
  if (reply.ticket != scan_.ticket) return;
  scan_.ticket = 0;
  if (reply.outcome.end == JobEnd::kDone && !reply.records.empty())
    live_.scan = std::make_shared<Record>(reply.records.front());
  MarkLive(Change::kScan);
}

void Session::OnChannelSearch(const EngineReply& reply) {
  if (reply.ticket != search_.ticket) return;
  search_.ticket = 0;
  if (reply.outcome.end == JobEnd::kDone) TakeChannels(reply);
  MarkLive(Change::kChannels);
}

void Session::TakeChannels(const EngineReply& reply) {
  for (const Record& record : reply.records)
    live_.channels[record.name] = std::make_shared<Record>(record);
  MarkLive(Change::kChannels);
}

void Session::RankPromptChannels(const std::string& options) {
  if (!EngineReady()) return;
  worker_.Cancel(RequestKind::kPromptChannels, Side::kA);
  CancelMeans();  // they resume afterwards
  Post(PromptChannelsRequest{live_.place, live_.a.setting, options});
  RequestMeans();
}

// Session: probes over samples. The engine keeps finished samples, so that a paused request goes
// on.

namespace {

// The probes that the prompt supports.
std::string SampleProbeOptions(const Record& prompt, const ModelConfig& model) {
  std::string names = kPositionAwarenessRecord;
  if (!GoldTokens(prompt).empty()) {
    names += ",span_attention";
    if (model.Mixer().heads > 0) names += std::string(",") + kEffectiveAttention;
  }
  if (!AttributeText(prompt, "answer").empty()) names += ",answer_attribution";
  return nlohmann::json{{"probes", names}}.dump();
}

}  // namespace

void Session::SetSampleProbesWanted(bool wanted) {
  if (wanted == std::exchange(sample_probes_wanted_, wanted)) return;
  if (!wanted) PauseSampleProbes();
  // With other tokens the second model has the given texts only, and no further samples.
  if (second_) {
    second_->SetSampleProbesWanted(wanted && WhyNotComparable(*this, Compared::kTokens).isEmpty());
  }
  stopped_ = false;
  MarkLive(Change::kMeans);
  ContinueBackground();
}

void Session::PostSampleProbes() {
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && !RunsB()) break;
    const SampleProbes* known = live_.SampleProbesOf(side);
    if (known && known->complete) continue;
    probed_setting_ = live_.state(side).in_effect;
    sample_probes_ticket_ = Post(ProbeSamplesRequest{
        WithoutNeutralTerms(live_.state(side).setting), std::max<int64_t>(samples_, 1),
        SampleProbeOptions(*live_.prompt(), live_.model->config)});
    break;
  }
}

void Session::PauseSampleProbes() {
  if (std::exchange(sample_probes_ticket_, 0) == 0) return;
  worker_.Cancel(RequestKind::kProbeSamples, Side::kA);
}

void Session::OnSampleProbes(const EngineReply& reply) {
  if (reply.ticket != sample_probes_ticket_) return;
  sample_probes_ticket_ = 0;
  // A failed request would fail again.
  if (reply.outcome.end == JobEnd::kFailed) sample_probes_wanted_ = false;
  if (reply.outcome.end == JobEnd::kDone) {
    SampleProbes& probes = live_.sample_probes[probed_setting_];
    for (const Record& record : reply.records)
      probes.records[record.name] = std::make_shared<Record>(record);
    probes.complete = true;
  }
  MarkLive(Change::kMeans | Change::kCaptureRecords);
}

// Session: previews of prompts, and generated text. Generation pauses for requests about the shown
// prompt; means over samples wait for it.

void Session::Preview(const PromptRequest& prompt_request) {
  if (!previews_) {
    previews_ = std::make_unique<NewestReply<PromptRequest, PromptPreview>>(
        this,
        [this](const PromptRequest& request, const JobContext&, const auto& deliver) {
          PromptPreview preview;
          preview.prompts = worker_.Preview(request);
          deliver(std::move(preview));
        },
        [this](const PromptRequest& request, PromptPreview& preview) {
          preview.request = request;
          Q_EMIT Previewed(preview);
        });
  }
  previews_->Ask(prompt_request);
}

void Session::Generate(int64_t new_tokens) {
  if (!HasPrompts()) return;
  new_tokens_ = new_tokens;
  StopGenerating();
  generation_[Side::kA].waits = true;
  generation_[Side::kB].waits = RunsB();
  if (second_) second_->Generate(new_tokens);
  MarkLive(Change::kGeneration);
  if (GenerationMayRun()) PostGeneration();
}

bool Session::generates() const {
  const bool own = std::any_of(generation_.begin(), generation_.end(), [](const auto& entry) {
    return entry.second.waits || entry.second.ticket != 0;
  });
  return own || (second_ && second_->generates());
}

bool Session::GenerationMayRun() const {
  const bool waits = std::any_of(generation_.begin(), generation_.end(),
                                 [](const auto& entry) { return entry.second.waits; });
  const bool quiet = std::all_of(pending_.begin(), pending_.end(), [](const auto& entry) {
    const RequestKind kind = entry.second.kind;
    return kind == RequestKind::kCompare || kind == RequestKind::kGenerate ||
           kind == RequestKind::kScan || kind == RequestKind::kChannelSearch ||
           kind == RequestKind::kProbeSamples;
  });
  return waits && quiet && EngineReady() && !release_timer_.isActive() && !pause_timer_.isActive();
}

void Session::PostGeneration() {
  CancelMeans();
  for (auto& [side, generation] : generation_) {
    if (!generation.waits) continue;
    generation.waits = false;
    if (side == Side::kB && !RunsB()) continue;
    generation.ticket =
        Post(GenerateRequest{live_.place, live_.state(side).setting, new_tokens_}, side);
  }
  RequestMeans();  // they resume afterwards
}

void Session::PauseGeneration() {
  for (auto& [side, generation] : generation_) {
    if (generation.ticket == 0) continue;
    generation = {0, true};
    worker_.Cancel(RequestKind::kGenerate, side);
  }
}

void Session::StopGenerating() {
  if (generates()) MarkLive(Change::kGeneration);
  if (second_) second_->StopGenerating();
  for (auto& [side, generation] : generation_) {
    generation = {};
    worker_.Cancel(RequestKind::kGenerate, side);
  }
}

void Session::OnGenerate(const EngineReply& reply) {
  Generation& generation = generation_[reply.side];
  if (reply.ticket != generation.ticket) return;
  generation.ticket = 0;
  if (reply.outcome.end == JobEnd::kDone && !reply.records.empty()) {
    const Record& record = reply.records.front();
    // When A and B are exchanged, their results are exchanged too, but not their requests.
    generation.waits = !LiveRequests(reply.side, record);
    if (!generation.waits)
      live_.own(reply.side).records[kGenerationRecord] = std::make_shared<Record>(record);
  }
  MarkLive(Change::kGeneration);
}

}  // namespace midscope

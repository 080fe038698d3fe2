// SPDX-License-Identifier: GPL-3.0-or-later
// Session: background work that pauses for every other request: scans, channel searches, text
// generation.

#include <algorithm>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/record_names.h"
#include "core/intervention/term_type.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/prompt_channels.h"

namespace midscope {

// Session: scans. A scan pauses for every other request, and resumes from its finished samples when
// nothing else is requested.

void Session::Scan(const ScanRequest& request) {
  if (!HasPrompts()) return;
  worker_.Cancel(RequestKind::kScan, Side::kA);
  // The finished parts of the same scan remain visible.
  if (!scan_request_ || !scan_request_->ScansTheSame(request)) live_.scan.reset();
  scan_request_ = request;
  MarkLive(Change::kScan);
  PostScan();
}

bool Session::scans() const { return scan_waits_ || scan_ticket_ != 0; }

void Session::PostScan() {
  scan_waits_ = !EngineReady();
  if (!scan_waits_) scan_ticket_ = Post(*scan_request_);
}

void Session::PauseScan() {
  if (scan_ticket_ == 0) return;
  scan_waits_ = true;
  scan_ticket_ = 0;
  worker_.Cancel(RequestKind::kScan, Side::kA);
}

void Session::StopScan() {
  if (scans()) MarkLive(Change::kScan);
  scan_waits_ = false;
  scan_ticket_ = 0;
  worker_.Cancel(RequestKind::kScan, Side::kA);
}

void Session::ContinueBackground() {
  if (GenerationMayRun()) PostGeneration();
  const bool quiet = pending_.empty() && !release_timer_.isActive() && !pause_timer_.isActive();
  if (!quiet || !EngineReady()) return;
  if (search_waits_) {
    PostSearch();
  } else if (scan_waits_) {
    PostScan();
  } else if (sample_probes_wanted_) {
    PostSampleProbes();
  }
}

void Session::DropScan() {
  if (!scan_request_) return;
  StopScan();
  scan_request_.reset();
  live_.scan.reset();
  MarkLive(Change::kScan);
}

void Session::OnScan(const EngineReply& reply) {
  if (reply.ticket != scan_ticket_) return;
  scan_ticket_ = 0;
  if (reply.outcome.end == JobEnd::kDone && !reply.records.empty())
    live_.scan = std::make_shared<Record>(reply.records.front());
  MarkLive(Change::kScan);
}

// Session: channels that carry position, from a search over random text and from the shown prompt.
// Like a scan, a search pauses for every other request, and resumes from its finished prompts and
// examples when nothing else is requested.

void Session::SearchChannels(const ChannelSearchRequest& request) {
  if (!HasPrompts()) return;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
  // The finished parts of the same search remain visible.
  if (search_request_ != request) {
    live_.channels.erase(kChannelSearchRecord);
    live_.channels.erase(kChannelValidationRecord);
  }
  search_request_ = request;
  MarkLive(Change::kChannels);
  PostSearch();
}

bool Session::searches() const { return search_waits_ || search_ticket_ != 0; }

void Session::PostSearch() {
  search_waits_ = !EngineReady();
  if (!search_waits_) search_ticket_ = Post(*search_request_);
}

void Session::PauseSearch() {
  if (search_ticket_ == 0) return;
  search_waits_ = true;
  search_ticket_ = 0;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
}

void Session::StopSearch() {
  if (searches()) MarkLive(Change::kChannels);
  search_waits_ = false;
  search_ticket_ = 0;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
}

void Session::DropChannels() {
  StopSearch();
  search_request_.reset();
  if (!live_.channels.empty()) MarkLive(Change::kChannels);
  live_.channels.clear();
}

void Session::DropPromptChannels() {
  if (live_.channels.erase(kPromptChannelsRecord) > 0) MarkLive(Change::kChannels);
}

void Session::OnChannelSearch(const EngineReply& reply) {
  if (reply.ticket != search_ticket_) return;
  search_ticket_ = 0;
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
std::string SampleProbeOptions(const Record& prompt) {
  std::string names = kPositionAwarenessRecord;
  if (!GoldTokens(prompt).empty()) names += ",span_attention";
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
    sample_probes_ticket_ = Post(ProbeSamplesRequest{WithoutNeutralTerms(live_.state(side).setting),
                                                     std::max<int64_t>(samples_, 1),
                                                     SampleProbeOptions(*live_.prompt())});
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
    previews_ = std::make_unique<NewestRequest<PromptRequest>>([this](const PromptRequest& asked) {
      PromptPreview preview;
      preview.request = asked;
      try {
        preview.prompts = worker_.Preview(asked);
      } catch (const std::exception& error) {
        preview.failure = QString::fromUtf8(error.what());
      }
      QMetaObject::invokeMethod(
          this, [this, preview = std::move(preview)] { Q_EMIT Previewed(preview); },
          Qt::QueuedConnection);
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

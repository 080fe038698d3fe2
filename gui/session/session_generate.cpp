// SPDX-License-Identifier: GPL-3.0-or-later
// Session: prompts that are not run yet, and generated text. It gives way to what is shown of the
// prompt, not to means over samples, which wait for it.
#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/record_names.h"
#include "gui/session/session.h"

namespace midscope {

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
  generation_[Side::kB].waits = live_.differs();
  MarkLive(Change::kGeneration);
  if (GenerationMayRun()) PostGeneration();
}

bool Session::generates() const {
  return std::any_of(generation_.begin(), generation_.end(), [](const auto& entry) {
    return entry.second.waits || entry.second.ticket != 0;
  });
}

bool Session::GenerationMayRun() const {
  const bool waits = std::any_of(generation_.begin(), generation_.end(),
                                 [](const auto& entry) { return entry.second.waits; });
  const bool quiet = std::all_of(pending_.begin(), pending_.end(), [](const auto& entry) {
    const RequestKind kind = entry.second.kind;
    return kind == RequestKind::kCompare || kind == RequestKind::kGenerate ||
           kind == RequestKind::kScan || kind == RequestKind::kChannelSearch;
  });
  return waits && quiet && EngineReady() && !release_timer_.isActive() && !pause_timer_.isActive();
}

void Session::PostGeneration() {
  CancelMeans();
  for (auto& [side, generation] : generation_) {
    if (!generation.waits) continue;
    generation.waits = false;
    if (side == Side::kB && !live_.differs()) continue;
    generation.ticket =
        Post(GenerateRequest{live_.place, live_.state(side).setting, new_tokens_}, side);
  }
  RequestMeans();  // they go on afterwards
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
    // Settings that change places take their results along, not what is asked for them.
    generation.waits = !LiveAsks(reply.side, record);
    if (!generation.waits)
      live_.state(reply.side).records[kGenerationRecord] = std::make_shared<Record>(record);
  }
  MarkLive(Change::kGeneration);
}

}  // namespace midscope

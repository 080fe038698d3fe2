// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/session.h"

#include <algorithm>
#include <utility>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "data/published/published_record.h"
#include "probes/client/client_engine.h"
#include "probes/client/engine_link.h"

namespace midscope {
namespace {

constexpr int kReleaseMilliseconds = 350;
constexpr int kPauseMilliseconds = 150;
constexpr int kLongWhatIfMilliseconds = 700;

// Records state their kind of products only for integer products; else "".
std::string ProductsOf(const Record& record) {
  const std::string named = AttributeText(record, "products");
  return named.empty() ? "float" : named;
}

}  // namespace

Session::Session(std::shared_ptr<Engine> engine, std::shared_ptr<EngineLink> link, QObject* parent)
    : QObject(parent),
      marks_(new SettingMarks(this)),
      files_of_engine_(std::move(link)),
      worker_(std::move(engine)) {
  connect(marks_, &SettingMarks::Changed, this,
          [this] { Mark(Change::kSettings | Change::kMeans | kRecordChanges); });
  release_timer_.setSingleShot(true);
  release_timer_.setInterval(kReleaseMilliseconds);
  connect(&release_timer_, &QTimer::timeout, this, &Session::OnReleased);
  pause_timer_.setSingleShot(true);
  pause_timer_.setInterval(kPauseMilliseconds);
  connect(&pause_timer_, &QTimer::timeout, this, &Session::OnPaused);
  what_if_timer_.setSingleShot(true);
  what_if_timer_.setInterval(kLongWhatIfMilliseconds);
  connect(&what_if_timer_, &QTimer::timeout, this, &Session::UpdateBusy);
  // Queued, because Post replies to superseded requests before it returns the new ticket.
  connect(&worker_, &EngineWorker::Replied, this, &Session::OnReply, Qt::QueuedConnection);
  connect(&worker_, &EngineWorker::WhatIfPart, this, &Session::OnWhatIfPart, Qt::QueuedConnection);
  connect(&worker_, &EngineWorker::Partial, this, &Session::OnPartial, Qt::QueuedConnection);
  connect(
      &worker_, &EngineWorker::Progressed, this,
      [this](quint64 ticket, const Progress& progress) {
        if (pending_.count(ticket) > 0) Q_EMIT Progressed(progress);
      },
      Qt::QueuedConnection);
  make_second_ = [this]() -> std::shared_ptr<Engine> {
    return MakeClientEngine(std::make_shared<EngineLink>(files_of_engine_.link()->command()));
  };
}

quint64 Session::Post(EngineRequest request, Side side) {
  stopped_ = false;
  const auto kind = static_cast<RequestKind>(request.index());
  for (Background* work : {&scan_, &search_}) {
    if (kind != work->kind) PauseWork(*work);
  }
  if (kind != RequestKind::kProbeSamples) PauseSampleProbes();
  // Means run after text generation, so they do not pause it.
  if (kind != RequestKind::kGenerate && kind != RequestKind::kCompare) PauseGeneration();
  const quint64 ticket = worker_.Post(std::move(request), side);
  last_ticket_ = ticket;
  pending_[ticket] = {kind, side};
  UpdateBusy();
  return ticket;
}

void Session::Open(const OpenRequest& request, std::optional<PromptRequest> prompt_request) {
  const bool own = prompt_request_is_own_ || Awaits(RequestKind::kPrompt);
  prompt_request_is_own_ = own && !prompt_request && !stopped_;
  CancelEverything();
  if (prompt_request) prompt_request_ = std::move(prompt_request);
  prompt_request_waits_ = prompt_request_.has_value();
  opening_ = true;
  show_when_open_ = true;
  asked_ = request;
  valid_from_ = Post(request);
}

void Session::Restart() {
  const bool of_second = second_ && second_->engine_ended_ && !engine_ended_;
  if (second_ && second_->engine_ended_) second_->Restart();
  if (opened_ && !of_second) Open(*opened_);
}

void Session::Mark(Changes changes) {
  // A queued call runs after the events that are already waiting and before the next paint event.
  if (!changes_) QMetaObject::invokeMethod(this, "FlushChanges", Qt::QueuedConnection);
  changes_ |= changes;
}

void Session::MarkLive(Changes changes) {
  if (!shows_file()) Mark(changes);
}

void Session::FlushChanges() {
  const Changes changes = std::exchange(changes_, {});
  if (changes) Q_EMIT Changed(changes);
}

bool Session::ChangeSide(Side side, const SideView& next, bool dragging) {
  SideView& own = live_.own(side);
  const bool others = own.settled != next.settled || own.records != next.records;
  const quint64 shown = own.shown_ticket;
  const SideView::Part part = own.part;
  const bool same = own.setting == next.setting;
  own = next;
  own.shown_ticket = shown;
  own.part = part;
  if (same) return others;
  worker_.Cancel(RequestKind::kCaptureRun, side);
  if (!dragging || own.settled) worker_.Cancel(RequestKind::kWhatIf, side);
  return others;
}

void Session::CancelEverything() {
  means_ticket_ = 0;
  StopWork(scan_);
  StopWork(search_);
  PauseSampleProbes();
  StopGenerating();
  pause_timer_.stop();
  release_timer_.stop();
  worker_.CancelAll();
}

void Session::SetSettings(const Intervention& a, const Intervention& b, bool dragging) {
  const bool was_dragging = std::exchange(dragging_, dragging);
  const SideView old[] = {live_.a, live_.b};
  const auto find = [&old](const Intervention& wanted, const SideView& own) {
    // Pinning and swapping settings move the results with them.
    for (const SideView& known : old) {
      if (known.setting == wanted && known.settled) return known;
    }
    SideView changed = own;
    changed.settled = own.setting == wanted && own.settled;
    changed.Ask(wanted);
    return changed;
  };
  const bool changed = live_.a.setting != a || live_.b.setting != b;
  if (changed) {
    means_stopped_ = means_stopped_ || MeansRun();
    CancelMeans();
    const bool b_was_there = live_.differs();
    const bool a_changed = live_.a.setting != a;
    const bool b_changed = live_.b.setting != b;
    const bool others_a = ChangeSide(Side::kA, find(a, live_.a), dragging);
    const bool others_b = ChangeSide(Side::kB, find(b, live_.b), dragging);
    if (MayPost()) {
      // A capture run may have arrived before its outcome.
      if (a_changed && !HasOutcome(Side::kA)) RequestWhatIf(Side::kA);
      if ((b_changed || !b_was_there) && RunsB() && !HasOutcome(Side::kB)) RequestWhatIf(Side::kB);
    }
    Mark(Change::kSettings);
    MarkLive(Change::kMeans);
    // During a drag, this is called once per pixel, so only changed views are redrawn.
    if (!dragging || others_a || others_b || b_was_there != live_.differs())
      MarkLive(kRecordChanges);
  } else if (was_dragging && !dragging && AnyOlder()) {
    MarkLive(kRecordChanges);
  }
  if (second_) second_->SetSettings(b, b, dragging);
  // Makes plots redraw at full quality.
  if (was_dragging && !dragging) MarkLive(Change::kSettings);
  (dragging ? release_timer_ : pause_timer_).stop();
  (dragging ? pause_timer_ : release_timer_).start();
}

bool Session::MayPost() {
  if (!EngineReady()) stopped_ = false;
  return EngineReady();
}

void Session::OnPaused() {
  if (!EngineReady()) return;
  if (!live_.a.settled) RequestCaptureRun(Side::kA);
  if (RunsB() && !live_.b.settled) RequestCaptureRun(Side::kB);
}

void Session::OnReleased() {
  OnPaused();
  RequestMeans();
  ContinueBackground();
}

void Session::RequestCaptureRun(Side side) {
  CancelMeans();
  worker_.Cancel(RequestKind::kCaptureRun, side);
  CaptureRunRequest request;
  request.place = live_.place;
  request.intervention = live_.state(side).setting;
  request.channels = {live_.channel};
  request.probe_options = AskedProbeOptions();
  Post(request, side);
}

void Session::RequestWhatIf(Side side) {
  WhatIfRequest request;
  request.intervention = live_.state(side).setting;
  request.place = live_.place;
  request.channels = {live_.channel};
  Post(request, side);
}

void Session::RequestEverything() {
  for (const Side side : {Side::kA, Side::kB}) {
    // A side that is already settled was restored from the cache.
    if (live_.state(side).settled || (side == Side::kB && !RunsB())) continue;
    RequestCaptureRun(side);
    RequestWhatIf(side);
  }
  RequestMeans();
}

void Session::Resume() {
  const bool waits = prompt_request_is_own_ || (prompt_request_waits_ && live_.prompts.empty());
  if (waits && live_.model && !opening_) return PostPrompt();
  if (!EngineReady()) return;
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && !RunsB()) break;
    if (!live_.state(side).settled) RequestCaptureRun(side);
    const Record* outcome = live_.Find(side, kOutcomeRecord);
    if (!outcome || !LiveRequests(side, *outcome)) RequestWhatIf(side);
  }
  RequestMeans();
}

void Session::SetChannel(int64_t channel) {
  if (!shows_file() && live_.model)
    channel = std::clamp<int64_t>(channel, 0, std::max<int64_t>(live_.model->config.hidden - 1, 0));
  wanted_channel_ = channel;
  if (second_) second_->SetChannel(channel);
  if (channel == shown_->channel) return;
  shown_->channel = channel;
  Mark(Change::kChannel);
  if (shows_file()) return;
  // If all layers are cached, what-ifs include the new channel.
  if (EngineReady()) {
    RequestWhatIf(Side::kA);
    if (RunsB()) RequestWhatIf(Side::kB);
  }
  RepeatCaptureRuns();
}

void Session::SetProbeOptions(const std::string& json) {
  probe_options_ = json;
  if (second_) second_->SetProbeOptions(json);
  kept_views_.Clear();
  Mark(Change::kProbes);
  RepeatCaptureRuns();
}

void Session::SetNotes(const std::string& notes) {
  if (notes == notes_) return;
  notes_ = notes;
  Mark(Change::kNotes);
}

void Session::RepeatCaptureRuns() {
  if (!MayPost()) {
    live_.a.settled = live_.b.settled = false;
    return;
  }
  RequestCaptureRun(Side::kA);
  if (RunsB()) RequestCaptureRun(Side::kB);
  RequestMeans();
}

void Session::Cancel() {
  CancelEverything();
  if (second_) second_->Cancel();
  stopped_ = true;
  prompt_request_is_own_ = false;
  started_means_.clear();
  sample_probes_wanted_ = false;
  MarkLive(Change::kMeans);  // shows the button that starts them again
  if (std::exchange(dragging_, false)) MarkLive(Change::kSettings);
  if (AnyOlder()) MarkLive(kRecordChanges);
}

bool Session::IsRequested(Side side, const Record& record) const {
  return shows_file() || LiveRequests(side, record);
}

bool Session::LiveRequests(Side side, const Record& record) const {
  if (record.name == kPublishedRecord) return true;
  if (side == Side::kB && second_) return second_->LiveRequests(Side::kA, record);
  const Record* shown = live_.prompt();
  if (!live_.model || !shown) return false;
  const std::string prompt_hash = AttributeText(record, "prompt_hash");
  // Empty for records of several samples.
  const std::string subject_hash = AttributeText(record, "subject_hash");
  // Compares the settings last, because that may require parsing both.
  return AttributeText(record, "model_hash") == live_.provenance.model_hash &&
         AttributeText(record, "dtype") == live_.provenance.dtype &&
         ProductsOf(record) == live_.provenance.products &&
         (subject_hash.empty() || subject_hash == AttributeText(*shown, "subject_hash")) &&
         (prompt_hash.empty() || prompt_hash == AttributeText(*shown, "prompt_hash")) &&
         SameSetting(AttributeText(record, "intervention"), live_.state(side).text);
}

bool Session::ShownAsOlder(Side side, const Record& record) const {
  if (IsRequested(side, record)) return false;
  if (side == Side::kB && second_) return second_->ShownAsOlder(Side::kA, record);
  const auto is_newest = [&] {
    const Record* newest = live_.Find(side, kOutcomeRecord);
    const std::string setting = AttributeText(record, "intervention");
    return (newest && AttributeText(*newest, "intervention") == setting) ||
           live_.state(side).part.setting == setting;
  };
  const bool follows_drag =
      dragging_ && is_newest() &&
      std::any_of(pending_.begin(), pending_.end(), [side](const auto& entry) {
        return entry.second.kind == RequestKind::kWhatIf && entry.second.side == side;
      });
  return !follows_drag;
}

bool Session::AnyOlder() const {
  for (const Side side : {Side::kA, Side::kB}) {
    for (const std::string& name : live_.RecordNames(side)) {
      if (!LiveRequests(side, *live_.Find(side, name))) return true;
    }
  }
  return false;
}

}  // namespace midscope

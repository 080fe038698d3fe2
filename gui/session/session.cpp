// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/session.h"

#include <algorithm>
#include <utility>

#include "core/base/record_lookup.h"
#include "core/base/record_names.h"
#include "core/intervention/intervention_text.h"
#include "data/published/published_record.h"
#include "gui/base/record_access.h"
#include "probes/sweep/scan_effects.h"

namespace midscope {
namespace {

constexpr int kReleaseMilliseconds = 350;
constexpr int kPauseMilliseconds = 150;

}  // namespace

Session::Session(std::unique_ptr<Engine> engine, QObject* parent)
    : QObject(parent), worker_(std::move(engine)) {
  release_timer_.setSingleShot(true);
  release_timer_.setInterval(kReleaseMilliseconds);
  connect(&release_timer_, &QTimer::timeout, this, &Session::OnReleased);
  pause_timer_.setSingleShot(true);
  pause_timer_.setInterval(kPauseMilliseconds);
  connect(&pause_timer_, &QTimer::timeout, this, &Session::OnPaused);
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
}

void Session::SideState::Ask(const Intervention& wanted) {
  setting = wanted;
  text = PrintIntervention(wanted);
}

const Record* Session::prompt() const {
  return place_ < prompts_.size() ? &prompts_[place_] : nullptr;
}

const Record* Session::record(Side side, const std::string& name) const {
  if (name == kPublishedRecord) return side == Side::kA ? reference_.get() : nullptr;
  if (side == Side::kB && !differs()) return nullptr;
  if (name == kScanRecord && side == Side::kA && scan_) return scan_.get();
  const auto channels = found_channels_.find(name);
  if (side == Side::kA && channels != found_channels_.end()) return channels->second.get();
  const auto found = state(side).records.find(name);
  return found == state(side).records.end() ? nullptr : found->second.get();
}

std::vector<std::string> Session::record_names(Side side) const {
  std::vector<std::string> names;
  if (side == Side::kB && !differs()) return names;
  for (const auto& [name, record] : state(side).records) names.push_back(name);
  const auto add = [&names](const char* name) {
    names.insert(std::upper_bound(names.begin(), names.end(), name), name);
  };
  if (side == Side::kA && reference_) add(kPublishedRecord);
  if (side == Side::kA && scan_) add(kScanRecord);
  return names;
}

quint64 Session::Post(EngineRequest request, Side side) {
  stopped_ = false;
  const auto kind = static_cast<RequestKind>(request.index());
  if (kind != RequestKind::kScan) PauseScan();
  if (kind != RequestKind::kChannelSearch) PauseSearch();
  // Means wait behind the text.
  if (kind != RequestKind::kGenerate && kind != RequestKind::kCompare) PauseGeneration();
  const quint64 ticket = worker_.Post(std::move(request), side);
  pending_[ticket] = {kind, side};
  UpdateBusy();
  return ticket;
}

void Session::Open(const OpenRequest& request, std::optional<PromptRequest> prompt_request) {
  CancelEverything();
  if (prompt_request) prompt_request_ = std::move(prompt_request);
  prompt_request_waits_ = prompt_request_.has_value();
  opening_ = true;
  valid_from_ = Post(request);
}

void Session::SetPrompt(const PromptRequest& prompt_request) {
  prompt_request_ = prompt_request;
  prompt_request_waits_ = true;
  if (model_ && !opening_) PostPrompt();
}

void Session::PostPrompt() {
  prompt_request_waits_ = false;
  const bool searched = searches();  // not of these prompts
  CancelEverything();
  search_waits_ = searched;
  LeaveFile();
  valid_from_ = Post(*prompt_request_);
}

void Session::Mark(Changes changes) {
  // A queued call is delivered after the events that are waiting now and before the next painting.
  if (!changes_) QMetaObject::invokeMethod(this, "FlushChanges", Qt::QueuedConnection);
  changes_ |= changes;
}

void Session::FlushChanges() {
  const Changes changes = std::exchange(changes_, {});
  if (changes) Q_EMIT Changed(changes);
}

bool Session::ChangeSide(Side side, const SideState& next, bool dragging) {
  SideState& own = state(side);
  const bool others = own.settled != next.settled || own.records != next.records;
  const quint64 shown = own.shown_ticket;
  const SideState::Part part = own.part;
  const bool same = own.setting == next.setting;
  own = next;
  own.shown_ticket = shown;
  own.part = part;
  if (same) return others;
  worker_.Cancel(RequestKind::kCaptureRun, side);
  if (!dragging || own.settled) worker_.Cancel(RequestKind::kWhatIf, side);
  return others;
}

void Session::CancelMeans() {
  asked_ticket_ = 0;
  worker_.Cancel(RequestKind::kCompare, Side::kA);
}

void Session::CancelEverything() {
  asked_ticket_ = 0;
  StopScan();
  StopSearch();
  StopGenerating();
  pause_timer_.stop();
  release_timer_.stop();
  worker_.CancelAll();
}

void Session::SetSettings(const Intervention& a, const Intervention& b, bool dragging) {
  const bool was_dragging = std::exchange(dragging_, dragging);
  const SideState old[] = {a_, b_};
  const auto find = [&old](const Intervention& wanted, const SideState& own) {
    // Pinning and swapping move results together with their setting.
    for (const SideState& known : old) {
      if (known.setting == wanted && known.settled) return known;
    }
    SideState changed = own;
    changed.settled = own.setting == wanted && own.settled;
    changed.Ask(wanted);
    return changed;
  };
  const bool changed = a_.setting != a || b_.setting != b;
  if (changed) {
    CancelMeans();
    const bool b_was_there = differs();
    const bool a_asks = a_.setting != a;
    const bool b_asks = b_.setting != b;
    const bool others_a = ChangeSide(Side::kA, find(a, a_), dragging);
    const bool others_b = ChangeSide(Side::kB, find(b, b_), dragging);
    if (ready()) {
      if (a_asks && !a_.settled) RequestWhatIf(Side::kA);
      if ((b_asks || !b_was_there) && !b_.settled && differs()) RequestWhatIf(Side::kB);
    }
    Mark(Change::kSettings | Change::kMeans);
    // While a slider is dragged, this is called once per pixel: only changed views are redrawn.
    if (!dragging || others_a || others_b || b_was_there != differs()) Mark(kRecordChanges);
  } else if (was_dragging && !dragging && AnyOlder()) {
    Mark(kRecordChanges);
  }
  // Plots are drawn with all care again.
  if (was_dragging && !dragging) Mark(Change::kSettings);
  (dragging ? release_timer_ : pause_timer_).stop();
  (dragging ? pause_timer_ : release_timer_).start();
}

void Session::OnPaused() {
  if (!ready()) return;
  if (!a_.settled) RequestCaptureRun(Side::kA);
  if (differs() && !b_.settled) RequestCaptureRun(Side::kB);
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
  request.place = place_;
  request.intervention = state(side).setting;
  request.channels = {channel_};
  request.probe_options = probe_options_;
  Post(request, side);
}

void Session::RequestWhatIf(Side side) {
  WhatIfRequest request;
  request.intervention = state(side).setting;
  request.place = place_;
  request.channels = {channel_};
  Post(request, side);
}

void Session::RequestMeans() {
  if (samples_ <= 0 || !ready() || task_.empty()) return;
  CompareRequest request;
  request.samples = samples_;
  std::vector<std::string> asking;
  for (const Side side : {Side::kA, Side::kB}) {
    const std::string& text = state(side).text;
    const auto known = means_.find(text);
    const bool have = known != means_.end() && known->second.complete;
    const bool asked = std::find(asking.begin(), asking.end(), text) != asking.end();
    if (have) request.beside.push_back(setting(side));
    if (have || asked) continue;
    request.settings.push_back(setting(side));
    asking.push_back(text);
  }
  if (differs()) {
    request.against = setting(Side::kA);
    // Both are known, but not how they differ: their samples are kept, so that nothing runs.
    if (asking.empty() && !DifferenceOfMeans()) {
      request.settings = {setting(Side::kB)};
      request.beside = {setting(Side::kA)};
      asking = {state(Side::kB).text};
    }
  }
  if (asked_ticket_ != 0 && pending_.count(asked_ticket_) > 0 && asking == asked_means_) return;
  CancelMeans();
  asked_means_ = asking;
  if (!request.settings.empty()) asked_ticket_ = Post(request);
}

void Session::RequestEverything() {
  RequestCaptureRun(Side::kA);
  RequestWhatIf(Side::kA);
  if (differs()) {
    RequestCaptureRun(Side::kB);
    RequestWhatIf(Side::kB);
  }
  RequestMeans();
}

void Session::Resume() {
  if (!ready()) return;
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && !differs()) break;
    if (!state(side).settled) RequestCaptureRun(side);
    const Record* outcome = record(side, kOutcomeRecord);
    if (!outcome || !IsAsked(side, *outcome)) RequestWhatIf(side);
  }
  RequestMeans();
}

void Session::SetPlace(size_t place) {
  if (place >= prompts_.size() || place == place_ || !ready()) return;
  place_ = place;
  place_chosen_ = true;
  const bool scanned = scans();
  const bool searched = searches();
  CancelEverything();
  scan_waits_ = scanned;
  search_waits_ = searched;
  DropPromptChannels();
  const auto has_outcome = [this](Side side) {
    const Record* outcome = record(side, kOutcomeRecord);
    return state(side).settled && outcome && IsAsked(side, *outcome);
  };
  const bool outcome_a = has_outcome(Side::kA);
  const bool outcome_b = has_outcome(Side::kB);
  for (SideState* side : {&a_, &b_}) {
    // The outcome is over all places; all other records are of the previous prompt.
    std::erase_if(side->records, [](const auto& entry) { return entry.first != kOutcomeRecord; });
    side->settled = false;
  }
  Mark(Change::kPrompts | kRecordChanges);
  RequestCaptureRun(Side::kA);
  valid_from_ = pending_.rbegin()->first;
  if (!outcome_a) RequestWhatIf(Side::kA);
  if (differs()) {
    RequestCaptureRun(Side::kB);
    if (!outcome_b) RequestWhatIf(Side::kB);
  }
  RequestMeans();
}

void Session::SetChannel(int64_t channel) {
  wanted_channel_ = channel;
  if (channel == channel_) return;
  channel_ = channel;
  // What-ifs include the new channel where every layer is kept.
  if (ready()) {
    RequestWhatIf(Side::kA);
    if (differs()) RequestWhatIf(Side::kB);
  }
  RepeatCaptureRuns();
}

void Session::SetProbeOptions(const std::string& json) {
  probe_options_ = json;
  Mark(Change::kProbes);
  RepeatCaptureRuns();
}

void Session::RepeatCaptureRuns() {
  if (!ready()) return;
  RequestCaptureRun(Side::kA);
  if (differs()) RequestCaptureRun(Side::kB);
  RequestMeans();
}

void Session::SetSamples(int64_t samples) {
  if (samples == samples_) return;
  samples_ = samples;
  CancelMeans();
  means_.clear();
  Mark(Change::kMeans);
  RequestMeans();
}

void Session::Cancel() {
  CancelEverything();
  stopped_ = true;
  if (std::exchange(dragging_, false)) Mark(Change::kSettings);
  if (AnyOlder()) Mark(kRecordChanges);
}

bool Session::IsAsked(Side side, const Record& record) const {
  if (shows_file() || record.name == kPublishedRecord) return true;
  const Record* shown = prompt();
  if (!model_ || !shown) return false;
  const std::string prompt_hash = AttributeText(record, "prompt_hash");
  // The settings last: to compare them both may be parsed.
  return AttributeText(record, "model_hash") == provenance_.model_hash &&
         AttributeText(record, "dtype") == provenance_.dtype &&
         (AttributeText(record, "products") == "int8") == (provenance_.products == "int8") &&
         AttributeText(record, "subject_hash") == AttributeText(*shown, "subject_hash") &&
         (prompt_hash.empty() || prompt_hash == AttributeText(*shown, "prompt_hash")) &&
         SameSetting(AttributeText(record, "intervention"), state(side).text);
}

bool Session::ShownAsOlder(Side side, const Record& record) const {
  if (IsAsked(side, record)) return false;
  const auto is_newest = [&] {
    const Record* newest = this->record(side, kOutcomeRecord);
    const std::string setting = AttributeText(record, "intervention");
    return (newest && AttributeText(*newest, "intervention") == setting) ||
           state(side).part.setting == setting;
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
    for (const std::string& name : record_names(side)) {
      if (!IsAsked(side, *record(side, name))) return true;
    }
  }
  return false;
}

// Means over the samples of the other side's partial mean; null where that is complete or missing.
const Session::MeansEntry* Session::BesideOf(Side side) const {
  if (!differs()) return nullptr;
  const auto other = means_.find(state(side == Side::kA ? Side::kB : Side::kA).text);
  if (other == means_.end() || other->second.complete) return nullptr;
  const auto same = beside_.find(state(side).text);
  return same != beside_.end() && same->second.record == other->second.record ? &same->second
                                                                              : nullptr;
}

std::optional<Session::Means> Session::MeansOf(Side side, Measure measure) const {
  const auto found = means_.find(state(side).text);
  if (found == means_.end()) return std::nullopt;
  const MeansEntry* beside = BesideOf(side);
  const MeansEntry& entry = beside ? *beside : found->second;
  const std::vector<OutcomeSeries> all = SeriesOf(*entry.record, measure);
  if (entry.index >= all.size()) return std::nullopt;
  return Means{all[entry.index], entry.complete, beside != nullptr};
}

std::optional<Session::Means> Session::MeansOfSetting(const std::string& text,
                                                      Measure measure) const {
  const auto found = means_.find(text);
  if (found == means_.end()) return std::nullopt;
  const std::vector<OutcomeSeries> all = SeriesOf(*found->second.record, measure);
  if (found->second.index >= all.size()) return std::nullopt;
  return Means{all[found->second.index], found->second.complete, false};
}

std::optional<Session::Means> Session::DifferenceIn(const MeansEntry& entry,
                                                    const std::string& first,
                                                    const std::string& second) {
  if (AttributeText(*entry.record, "against") != first) return std::nullopt;
  const std::vector<OutcomeSeries> all = SeriesOf(*entry.record, Measure::kDifference);
  const auto found = std::find_if(all.begin(), all.end(), [&second](const OutcomeSeries& series) {
    return series.setting.toStdString() == second;
  });
  if (found == all.end()) return std::nullopt;
  return Means{*found, entry.complete, false};
}

std::optional<Session::Means> Session::DifferenceOfMeans() const {
  if (!differs()) return std::nullopt;
  std::optional<Means> best;
  for (const auto& [text, entry] : means_) {
    std::optional<Means> found = DifferenceIn(entry, a_.text, b_.text);
    if (!found) {
      found = DifferenceIn(entry, b_.text, a_.text);
      if (found) found->series = Negated(found->series, QString::fromStdString(b_.text));
    }
    if (found && (!best || found->series.samples > best->series.samples)) best = found;
  }
  return best;
}

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// Session: handling of the engine's replies.
#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

constexpr double kMostRows = 0.5;

QString BusyText(RequestKind kind) {
  const std::map<RequestKind, QString> texts = {
      {RequestKind::kOpen, Session::tr("Opening the model")},
      {RequestKind::kPrompt, Session::tr("Making the prompts")},
      {RequestKind::kCaptureRun, Session::tr("Full run")},
      {RequestKind::kWhatIf, Session::tr("Outcome at every place")},
      {RequestKind::kCompare, Session::tr("Means over samples")},
      {RequestKind::kScan, Session::tr("Scan")},
      {RequestKind::kChannelSearch, Session::tr("Search for channels")},
      {RequestKind::kPromptChannels, Session::tr("Channels of this prompt")},
      {RequestKind::kGenerate, Session::tr("Generating text")},
      {RequestKind::kProbeSamples, Session::tr("Heads over samples")}};
  return texts.at(kind);
}

// The word for the kind of run, for Failed and Succeeded.
QString WhatOf(RequestKind kind, Side side) {
  const bool of_side = kind == RequestKind::kCaptureRun || kind == RequestKind::kWhatIf ||
                       kind == RequestKind::kGenerate;
  const QString letter = side == Side::kA ? QStringLiteral(" A") : QStringLiteral(" B");
  return BusyText(kind) + (of_side ? letter : QString());
}

}  // namespace

void Session::OnReply(const EngineWorker::ReplyPointer& reply) {
  pending_.erase(reply->ticket);
  // A model or prompts that the engine has accepted are in effect even if the request was
  // superseded.
  const bool changes_engine =
      reply->kind == RequestKind::kOpen || reply->kind == RequestKind::kPrompt;
  const bool taken = reply->outcome.end == JobEnd::kDone && changes_engine;
  const bool about_this_prompt = reply->ticket >= valid_from_ || taken;
  static const std::map<RequestKind, void (Session::*)(const EngineReply&)> takers = {
      {RequestKind::kOpen, &Session::OnOpen},
      {RequestKind::kPrompt, &Session::OnPrompt},
      {RequestKind::kCaptureRun, &Session::OnCaptureRun},
      {RequestKind::kWhatIf, &Session::OnWhatIf},
      {RequestKind::kCompare, &Session::OnMeans},
      {RequestKind::kPromptChannels, &Session::TakeChannels}};
  const JobEnd end = reply->outcome.end;
  if (end == JobEnd::kFailed && about_this_prompt) OnFailed(*reply);
  if (end != JobEnd::kDone && changes_engine) OnNotTaken();
  if (end == JobEnd::kDone && about_this_prompt) {
    Q_EMIT Succeeded(WhatOf(reply->kind, reply->side));
    const auto taker = takers.find(reply->kind);
    if (taker != takers.end()) (this->*taker->second)(*reply);
  }
  // Replies of the other kinds are handled without a result as well.
  if (reply->kind == RequestKind::kScan) OnScan(*reply);
  if (reply->kind == RequestKind::kChannelSearch) OnChannelSearch(*reply);
  if (reply->kind == RequestKind::kGenerate) OnGenerate(*reply);
  if (reply->kind == RequestKind::kProbeSamples) OnSampleProbes(*reply);
  UpdateBusy();
  ContinueBackground();
  // Panels may request more data (another hidden channel) when they receive the changes.
  if (pending_.empty()) FlushChanges();
  if (pending_.empty()) Q_EMIT Stopped();
}

void Session::OnEngineEnded(const EngineReply& reply) {
  if (std::exchange(engine_ended_, true)) return;
  const QString why = QString::fromStdString(reply.outcome.why);
  if (const auto* asked = std::get_if<OpenRequest>(&reply.request)) opened_ = *asked;
  CancelEverything();
  Q_EMIT Failed(why, BusyText(RequestKind::kOpen));
  Q_EMIT EngineEnded(why);
}

void Session::OnFailed(const EngineReply& reply) {
  if (reply.engine_ended) return OnEngineEnded(reply);
  const QString why = QString::fromStdString(reply.outcome.why);
  Q_EMIT Failed(why, WhatOf(reply.kind, reply.side));
  if (reply.device_fault) {
    const auto* asked = std::get_if<OpenRequest>(&reply.request);
    if (!asked && opened_) asked = &*opened_;
    if (asked) Q_EMIT DeviceFailed(why, *asked);
  }
  const bool of_setting =
      reply.kind == RequestKind::kCaptureRun || reply.kind == RequestKind::kWhatIf;
  if (of_setting && AnyOlder()) MarkLive(kRecordChanges);
}

void Session::OnNotTaken() {
  const bool was_opening = std::exchange(opening_, Awaits(RequestKind::kOpen));
  if (was_opening && !opening_ && live_.model) {
    asked_ = opened_;  // that model is still open
    MarkLive(Change::kModel);
  }
  MarkLive(Change::kMeans);  // their button may be needed again
  if (!stopped_) Resume();
  if (!opening_ && !Awaits(RequestKind::kPrompt)) place_of_next_.reset();
}

bool Session::Awaits(RequestKind kind) const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [kind](const auto& entry) { return entry.second.kind == kind; });
}

void Session::OnOpen(const EngineReply& reply) {
  opening_ = Awaits(RequestKind::kOpen);
  engine_ended_ = false;
  DropChannels();
  kept_views_.Clear();
  live_.model = reply.model;
  opened_ = std::get<OpenRequest>(reply.request);
  live_.provenance = reply.provenance;
  live_.channel =
      std::clamp<int64_t>(wanted_channel_, 0, std::max<int64_t>(live_.model->config.hidden - 1, 0));
  ForgetPrompts();
  if (second_) second_->ForgetPrompts();
  MarkLive(Change::kModel);
  if (std::exchange(show_when_open_, false)) ShowDocument(kModelDocument);
  if (prompt_request_waits_ && !stopped_ && !opening_) PostPrompt();
}

void Session::OnCaptureRun(const EngineReply& reply) {
  SideView& side = live_.own(reply.side);
  // The setting may have changed during the run.
  const auto& request = std::get<CaptureRunRequest>(reply.request);
  if (request.intervention != side.setting || request.place != live_.place) return;
  // Removes records of probes that no longer run.
  std::erase_if(side.records, [](const auto& entry) {
    return entry.first != kOutcomeRecord && entry.first != kGenerationRecord;
  });
  for (const Record& record : reply.records) {
    side.records[record.name] = std::make_shared<Record>(record);
  }
  TakeQueryRow(side);
  side.settled = true;
  // A capture run includes everything that a what-if returns.
  Q_EMIT Succeeded(WhatOf(RequestKind::kWhatIf, reply.side));
  for (const std::string& why : reply.failures)
    Q_EMIT Failed(QString::fromStdString(why), WhatOf(reply.kind, reply.side));
  MarkLive(kRecordChanges);
  NoteCost(reply.seconds * static_cast<double>(live_.prompts.size()), false);
}

// Whether the record has the shown channel and the side's current record lacks it.
bool Session::HasOtherChannel(const SideView& side, const Record& record) const {
  const auto channel = static_cast<double>(live_.channel);
  const auto known = side.records.find(kHiddenChannelsRecord);
  return AxisIndexOf(record, "channel", channel) >= 0 &&
         (known == side.records.end() || AxisIndexOf(*known->second, "channel", channel) < 0);
}

void Session::TakeOfPlace(const EngineReply& reply, SideView& side) {
  const auto& request = std::get<WhatIfRequest>(reply.request);
  const Record* outcome = live_.Find(reply.side, kOutcomeRecord);
  const bool has_outcome = outcome && LiveRequests(reply.side, *outcome);
  side.follows = false;
  for (const Record& record : reply.records) {
    // A what-if does not replace the records of a complete capture run, because its numbers are
    // equal or belong to another place. The exceptions are hidden channels, if another channel is
    // requested, and the records of the answer that belong to a new outcome.
    const bool channel = record.name == kHiddenChannelsRecord && HasOtherChannel(side, record);
    const bool answer =
        !has_outcome && (record.name == kAnswerRecord || record.name == kNextTokensRecord);
    const bool kept = side.settled && !channel && !answer;
    if (record.name == kOutcomeRecord || kept || request.place != live_.place) continue;
    side.records[record.name] = std::make_shared<Record>(record);
    const bool map = record.name == kPositionAwarenessRecord && !IsPartial(record);
    side.follows = side.follows || map || channel;
  }
}

// Takes part of a what-if. A setting that is no longer requested is a step of a drag.
void Session::OnWhatIfPart(const EngineWorker::ReplyPointer& part) {
  SideView& side = live_.own(part->side);
  const auto& request = std::get<WhatIfRequest>(part->request);
  const bool newest = part->ticket >= std::max({valid_from_, side.shown_ticket, side.part.ticket});
  if (pending_.count(part->ticket) == 0 || !newest || side.settled) return;
  if (!dragging_ && request.intervention != side.setting) return;
  side.part = {part->ticket, PrintIntervention(request.intervention),
               std::none_of(part->records.begin(), part->records.end(), IsPartial)};
  TakeOfPlace(*part, side);
  MarkLive(Change::kWhatIfRecords | Change::kMapRecords);
}

void Session::OnWhatIf(const EngineReply& reply) {
  SideView& side = live_.own(reply.side);
  if (reply.ticket < std::max(side.shown_ticket, side.part.ticket)) return;
  side.shown_ticket = reply.ticket;
  MarkLive(Change::kWhatIfRecords);
  const bool have_place = side.part.ticket == reply.ticket && side.part.whole;
  if (!have_place) {
    TakeOfPlace(reply, side);
    if (side.follows) MarkLive(Change::kMapRecords);
  }
  // An equal request does not replace an outcome: repeated runs differ by rounding.
  const Record* outcome = live_.Find(reply.side, kOutcomeRecord);
  const bool has_outcome = outcome && LiveRequests(reply.side, *outcome);
  for (const Record& record : reply.records) {
    if (record.name == kOutcomeRecord && !has_outcome)
      side.records[record.name] = std::make_shared<Record>(record);
  }
  Q_EMIT WhatIfTimed(reply.cost);
  // If the run computed most rows of all prompts, its cost is a measurement of that of a sample.
  if (!reply.cost.seen_before && reply.cost.share >= kMostRows)
    NoteCost(reply.cost.seconds / reply.cost.share, true);
}

void Session::OnPartial(quint64 ticket, const EngineWorker::RecordPointer& record) {
  if (pending_.count(ticket) == 0) return;
  if (ticket == means_ticket_) StoreMeans(record, false);
  if (ticket == scan_.ticket) {
    live_.scan = record;
    MarkLive(Change::kScan);
  }
  for (const auto& [side, generation] : generation_) {
    if (ticket != generation.ticket || !LiveRequests(side, *record)) continue;
    live_.own(side).records[record->name] = record;
    MarkLive(Change::kGeneration);
  }
  if (ticket == sample_probes_ticket_) {
    live_.sample_probes[probed_setting_].records[record->name] = record;
    MarkLive(Change::kMeans | Change::kCaptureRecords);
  }
  if (ticket == search_.ticket) {
    live_.channels[record->name] = record;
    MarkLive(Change::kChannels);
  }
}

// A what-if counts as work once it takes longer than a step of a slider may.
void Session::UpdateBusy() {
  QString text;
  quint64 what_if = 0;
  for (const auto& [ticket, pending] : pending_) {
    if (pending.kind != RequestKind::kWhatIf) {
      text = BusyText(pending.kind);
      break;
    }
    if (what_if == 0) what_if = ticket;
  }
  if (what_if != std::exchange(watched_what_if_, what_if)) {
    what_if == 0 ? what_if_timer_.stop() : what_if_timer_.start();
  } else if (what_if != 0 && text.isEmpty() && !what_if_timer_.isActive()) {
    text = BusyText(RequestKind::kWhatIf);
  }
  busy_ = text;
  ShowBusy();
}

void Session::CollectSide(Side side, ScreenRecords& screen) const {
  std::map<QString, QStringList> older;  // by setting
  std::map<std::string, std::shared_ptr<const Record>> records = shown_->state(side).records;
  if (const SampleProbes* probes = shown_->SampleProbesOf(side); probes && probes->complete)
    records.insert(probes->records.begin(), probes->records.end());
  for (const auto& [name, record] : records) {
    if (!IsRequested(side, *record) || IsPartial(*record)) {
      const QString setting = SettingOf(*record);
      older[IsPartial(*record) ? tr("%1, unfinished").arg(setting) : setting]
          << QString::fromStdString(name);
      continue;
    }
    Record copy = *record;
    if (side == Side::kB) copy.name += "_b";
    copy.attributes["side"] = std::string(side == Side::kA ? "A" : "B");
    if (side == Side::kB && shown_->second)
      copy.attributes["model"] = shown_->second->provenance.model_path;
    screen.records.push_back(std::move(copy));
  }
  for (const auto& [setting, names] : older) {
    screen.left_out << tr("%1: %2 of %3 (%4)")
                           .arg(side == Side::kA ? tr("A") : tr("B"))
                           .arg(tr("%n record(s)", "", static_cast<int>(names.size())), setting,
                                names.join(QStringLiteral(", ")));
  }
}

Session::ScreenRecords Session::RecordsOnScreen() const {
  ScreenRecords screen;
  if (const Record* shown = shown_->prompt()) {
    screen.records.push_back(*shown);
    if (!notes_.empty() && !shows_file())
      screen.records.back().attributes[kNotesAttribute] = notes_;
  }
  CollectSide(Side::kA, screen);
  if (shown_->differs()) CollectSide(Side::kB, screen);
  CollectMeans(screen.records);
  if (shown_->reference) screen.records.push_back(*shown_->reference);
  if (shown_->scan) screen.records.push_back(*shown_->scan);
  for (const auto& [name, record] : shown_->channels) screen.records.push_back(*record);
  return screen;
}

}  // namespace midscope

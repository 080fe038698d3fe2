// SPDX-License-Identifier: GPL-3.0-or-later
// What the session does with what the engine's thread sends back.
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/intervention_text.h"
#include "data/task_text.h"
#include "gui/record_access.h"
#include "gui/session.h"

namespace midscope {
namespace {

QString BusyText(RequestKind kind) {
  switch (kind) {
    case RequestKind::kOpen:
      return Session::tr("Opening the model");
    case RequestKind::kSubject:
      return Session::tr("Making the prompts");
    case RequestKind::kLook:
      return Session::tr("Full run");
    case RequestKind::kCompare:
      return Session::tr("Means over samples");
    case RequestKind::kWhatIf:
      break;
  }
  return Session::tr("What-if");
}

// How many samples a setting's means are over.
double SamplesIn(const Record& record, size_t setting) {
  const double samples = ValueAt(record, "samples", {static_cast<int64_t>(setting)});
  return std::isnan(samples) ? 0 : samples;
}

// In full, so that defaults can be read off it.
std::string TaskOrEmpty(const std::string& task) {
  try {
    return task.empty() ? "" : TaskInFull(task);
  } catch (const Error&) {
    return task;  // of an engine that knows more tasks
  }
}

}  // namespace

void Session::OnReply(const EngineWorker::ReplyPointer& reply) {
  pending_.erase(reply->ticket);
  const bool about_this_prompt = reply->ticket >= valid_from_;
  switch (reply->outcome.end) {
    case JobEnd::kFailed:
      if (about_this_prompt) Q_EMIT Failed(QString::fromStdString(reply->outcome.why));
      break;
    case JobEnd::kCancelled:
      break;
    case JobEnd::kDone:
      if (!about_this_prompt) break;
      switch (reply->kind) {
        case RequestKind::kOpen:
          model_ = reply->model;
          provenance_ = reply->provenance;
          Q_EMIT ModelChanged();
          if (subject_waits_) PostSubject();
          break;
        case RequestKind::kSubject:
          OnSubject(*reply);
          break;
        case RequestKind::kLook:
          OnLook(*reply);
          break;
        case RequestKind::kWhatIf:
          OnWhatIf(*reply);
          break;
        case RequestKind::kCompare:
          OnMeans(*reply);
          break;
      }
      break;
  }
  UpdateBusy();
  if (pending_.empty()) Q_EMIT Stopped();
}

void Session::OnSubject(const EngineReply& reply) {
  prompts_ = reply.records;
  task_ = TaskOrEmpty(std::get<Subject>(reply.request).task);
  // The middle of the context is what this is about: there the first picture is taken.
  if (!place_chosen_ || place_ >= prompts_.size()) place_ = prompts_.size() / 2;
  a_.records.clear();
  b_.records.clear();
  a_.settled = b_.settled = false;
  Q_EMIT PromptsChanged();
  TellSides();
  if (!prompts_.empty()) RequestEverything();
}

void Session::OnLook(const EngineReply& reply) {
  SideState& side = state(reply.side);
  // The setting may have moved on while the run was under way.
  const auto& request = std::get<LookRequest>(reply.request);
  if (request.intervention != side.setting || request.place != place_) return;
  // Records of probes that no longer run go.
  std::erase_if(side.records, [](const auto& entry) { return entry.first != "outcome"; });
  for (const Record& record : reply.records) {
    side.records[record.name] = std::make_shared<Record>(record);
  }
  side.settled = true;
  // The map first: the attention's first head is marked in it.
  Q_EMIT FullRunChanged(reply.side);
  Q_EMIT SideChanged(reply.side);
}

void Session::OnWhatIf(const EngineReply& reply) {
  SideState& side = state(reply.side);
  if (reply.ticket < side.shown_ticket) return;
  side.shown_ticket = reply.ticket;
  const auto& request = std::get<WhatIfRequest>(reply.request);
  side.follows = false;
  for (const Record& record : reply.records) {
    // The attention of a full run is not replaced by the same numbers, nor by another place's.
    const bool outcome = record.name == "outcome";
    if (!outcome && (side.settled || request.place != place_)) continue;
    side.records[record.name] = std::make_shared<Record>(record);
    side.follows = side.follows || record.name == "position_awareness";
  }
  if (side.follows) Q_EMIT Followed(reply.side);
  Q_EMIT SideChanged(reply.side);
  Q_EMIT WhatIfTimed(reply.cost);
}

void Session::StoreMeans(const std::shared_ptr<const Record>& record, bool complete) {
  for (size_t i = 0; i < asked_means_.size(); ++i) {
    // A comparison that begins does not take away what an earlier one left of more samples.
    const auto known = means_.find(asked_means_[i]);
    if (!complete && known != means_.end() &&
        SamplesIn(*known->second.record, known->second.index) > SamplesIn(*record, i)) {
      continue;
    }
    means_[asked_means_[i]] = MeansEntry{record, i, complete};
  }
  Q_EMIT MeansChanged();
}

void Session::OnPartial(quint64 ticket, const EngineWorker::RecordPointer& record) {
  if (ticket == asked_ticket_ && pending_.count(ticket) > 0) StoreMeans(record, false);
}

void Session::OnMeans(const EngineReply& reply) {
  if (reply.ticket != asked_ticket_ || reply.records.empty()) return;
  StoreMeans(std::make_shared<Record>(reply.records.front()), true);
}

void Session::UpdateBusy() {
  QString text;
  for (const auto& [ticket, kind] : pending_) {
    if (kind == RequestKind::kWhatIf) continue;
    text = BusyText(kind);
    break;
  }
  if (text == busy_) return;
  busy_ = text;
  Q_EMIT BusyChanged(busy_);
}

std::vector<Record> Session::RecordsOnScreen() const {
  std::vector<Record> records;
  if (const Record* shown = prompt()) {
    records.push_back(*shown);
    if (!task_.empty()) records.back().attributes["task"] = task_;
  }
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && !differs()) break;
    for (const auto& [name, record] : state(side).records) {
      Record copy = *record;
      if (side == Side::kB) copy.name += "_b";
      copy.attributes["intervention"] = PrintIntervention(setting(side));
      copy.attributes["side"] = std::string(side == Side::kA ? "A" : "B");
      records.push_back(std::move(copy));
    }
  }
  // Means of A and B may lie in one record or in two.
  const Record* first = nullptr;
  for (const Side side : {Side::kA, Side::kB}) {
    const auto found = means_.find(PrintIntervention(setting(side)));
    if (found == means_.end() || found->second.record.get() == first) continue;
    Record copy = *found->second.record;
    if (first) copy.name += "_b";
    copy.attributes["complete"] = int64_t{found->second.complete ? 1 : 0};
    first = found->second.record.get();
    records.push_back(std::move(copy));
  }
  if (reference_) records.push_back(*reference_);
  return records;
}

}  // namespace midscope

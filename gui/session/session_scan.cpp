// SPDX-License-Identifier: GPL-3.0-or-later
// Session: scans. A scan gives way to every other request and goes on, from its finished samples,
// when nothing else is asked for.
#include "gui/session/session.h"

namespace midscope {

void Session::Scan(const ScanRequest& request) {
  if (!HasPrompts()) return;
  worker_.Cancel(RequestKind::kScan, Side::kA);
  // What is done of the same scan stays in sight.
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

}  // namespace midscope

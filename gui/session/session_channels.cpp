// SPDX-License-Identifier: GPL-3.0-or-later
// Session: channels that carry position, of a search over random text and of the shown prompt. As a
// scan, a search gives way to every other request, and goes on from its finished prompts and
// examples when nothing else is asked for.
#include "gui/session/session.h"

#include "probes/channels/channel_validation.h"
#include "probes/channels/prompt_channels.h"

namespace midscope {

void Session::SearchChannels(const ChannelSearchRequest& request) {
  if (!ready()) return;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
  // What is done of the same search stays in sight.
  if (search_request_ != request) {
    found_channels_.erase(kChannelSearchRecord);
    found_channels_.erase(kChannelValidationRecord);
  }
  search_request_ = request;
  Mark(Change::kChannels);
  PostSearch();
}

bool Session::searches() const { return search_waits_ || search_ticket_ != 0; }

void Session::PostSearch() {
  search_waits_ = false;
  search_ticket_ = Post(*search_request_);
}

void Session::PauseSearch() {
  if (search_ticket_ == 0) return;
  search_waits_ = true;
  search_ticket_ = 0;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
}

void Session::StopSearch() {
  if (searches()) Mark(Change::kChannels);
  search_waits_ = false;
  search_ticket_ = 0;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
}

void Session::DropChannels() {
  StopSearch();
  search_request_.reset();
  if (!found_channels_.empty()) Mark(Change::kChannels);
  found_channels_.clear();
}

void Session::DropPromptChannels() {
  if (found_channels_.erase(kPromptChannelsRecord) > 0) Mark(Change::kChannels);
}

void Session::OnChannelSearch(const EngineReply& reply) {
  if (reply.ticket != search_ticket_) return;
  search_ticket_ = 0;
  if (reply.outcome.end == JobEnd::kDone) TakeChannels(reply);
  Mark(Change::kChannels);
}

void Session::TakeChannels(const EngineReply& reply) {
  for (const Record& record : reply.records)
    found_channels_[record.name] = std::make_shared<Record>(record);
  Mark(Change::kChannels);
}

void Session::RankPromptChannels(const std::string& options) {
  if (!ready()) return;
  worker_.Cancel(RequestKind::kPromptChannels, Side::kA);
  CancelMeans();  // they go on afterwards
  Post(PromptChannelsRequest{place_, a_.setting, options});
  RequestMeans();
}

}  // namespace midscope

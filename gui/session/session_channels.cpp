// SPDX-License-Identifier: GPL-3.0-or-later
// Session: channels that carry position, of a search over random text and of the shown prompt. As a
// scan, a search gives way to every other request, and goes on from its finished prompts and
// examples when nothing else is asked for.
#include "gui/session/session.h"

#include "probes/channels/channel_validation.h"
#include "probes/channels/prompt_channels.h"

namespace midscope {

void Session::SearchChannels(const ChannelSearchRequest& request) {
  if (!HasPrompts()) return;
  worker_.Cancel(RequestKind::kChannelSearch, Side::kA);
  // What is done of the same search stays in sight.
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
  CancelMeans();  // they go on afterwards
  Post(PromptChannelsRequest{live_.place, live_.a.setting, options});
  RequestMeans();
}

}  // namespace midscope

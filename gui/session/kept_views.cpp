// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/kept_views.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "probes/engine/reply_cache.h"

namespace midscope {
namespace {

size_t BytesOfSide(const SideView& side) {
  size_t bytes = 0;
  for (const auto& entry : side.records) bytes += BytesOf(*entry.second);
  return bytes;
}

bool SameSpans(const std::vector<SpanRequest>& a, const std::vector<SpanRequest>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SpanRequest& left, const SpanRequest& right) {
                      return left.span == right.span && left.text == right.text;
                    });
}

}  // namespace

bool SamePrompts(const PromptRequest& a, const PromptRequest& b) {
  const auto values = [](const PromptRequest& request) {
    return std::tie(request.task, request.seed, request.sample, request.places, request.text,
                    request.gold_begin, request.gold_end, request.answer, request.pieces,
                    request.question, request.format, request.kept_limit);
  };
  const bool same_given = std::equal(a.given.begin(), a.given.end(), b.given.begin(), b.given.end(),
                                     [](const SourceText& left, const SourceText& right) {
                                       return left.name == right.name &&
                                              left.own.text == right.own.text &&
                                              left.own.answer == right.own.answer &&
                                              SameSpans(left.own.spans, right.own.spans);
                                     });
  return values(a) == values(b) && SameSpans(a.spans, b.spans) && a.sources.empty() &&
         b.sources.empty() && same_given;
}

const SideView* KeptView::Find(const Intervention& setting) const {
  for (const SideView* side : {&a, &b}) {
    if (side->settled && side->setting == setting) return side;
  }
  return nullptr;
}

void KeptViews::Keep(KeptView view) {
  std::erase_if(views_, [&view](const Entry& entry) {
    return entry.view.place == view.place && SamePrompts(entry.view.request, view.request);
  });
  const size_t bytes = BytesOfSide(view.a) + BytesOfSide(view.b);
  views_.push_front({std::move(view), bytes});
  size_t all = 0;
  const auto first_beyond = std::find_if(views_.begin(), views_.end(), [&](const Entry& entry) {
    all += entry.bytes;
    return all > limit_;
  });
  views_.erase(first_beyond, views_.end());
}

const KeptView* KeptViews::Find(const PromptRequest& request, size_t place) const {
  const auto found = std::find_if(views_.begin(), views_.end(), [&](const Entry& entry) {
    return entry.view.place == place && SamePrompts(entry.view.request, request);
  });
  return found == views_.end() ? nullptr : &found->view;
}

void KeptViews::Forget(const PromptRequest& request) {
  std::erase_if(
      views_, [&request](const Entry& entry) { return SamePrompts(entry.view.request, request); });
}

}  // namespace midscope

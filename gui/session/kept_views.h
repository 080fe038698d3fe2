// SPDX-License-Identifier: GPL-3.0-or-later
// Records of prompts and places that were on the screen before, so that going back to them runs
// nothing again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "gui/session/session_view.h"
#include "probes/engine/engine.h"

namespace midscope {

// Whether two requests make the same prompts. Of requests with texts that patches take values from
// it is false.
bool SamePrompts(const PromptRequest& a, const PromptRequest& b);

struct KeptView {
  PromptRequest request;
  size_t place = 0;  // index into the request's places
  int64_t channel = 0;
  std::string probe_options;
  // A side that is not settled has no use.
  SideView a;
  SideView b;
  std::map<std::string, MeansEntry> means;

  // The records of a settled side with this setting; null where there are none.
  const SideView* Find(const Intervention& setting) const;
};

// Views of one open model. Bounded in bytes; the oldest is dropped first.
class KeptViews {
 public:
  static constexpr size_t kLimit = size_t{48} << 20;

  explicit KeptViews(size_t limit_bytes = kLimit) : limit_(limit_bytes) {}

  // Replaces that of the same prompt and place. What is larger than the limit is not kept.
  void Keep(KeptView view);
  // Null where there is none. Valid until the next call of another function.
  const KeptView* Find(const PromptRequest& request, size_t place) const;
  void Forget(const PromptRequest& request);
  void Clear() { views_.clear(); }
  size_t size() const { return views_.size(); }

 private:
  struct Entry {
    KeptView view;
    size_t bytes = 0;
  };
  std::list<Entry> views_;  // the newest first
  size_t limit_;
};

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// Cache of records of prompts and places that were shown before, so that returning to them needs no
// new run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "gui/session/session_view.h"
#include "probes/engine/engine.h"

namespace midscope {

// Whether two requests make the same prompts. Always false if a request contains texts for patches
// to take values from.
bool SamePrompts(const PromptRequest& a, const PromptRequest& b);

struct KeptView {
  PromptRequest request;
  size_t place = 0;  // index into the request's places
  int64_t channel = 0;
  std::string probe_options;
  // The records of a side are used only if it is settled.
  SideView a;
  SideView b;
  std::map<std::string, MeansEntry> means;

  // The settled side with this setting; nullptr if there is none.
  const SideView* Find(const Intervention& setting) const;
};

// Cached views of one open model. The total size in bytes is limited; the oldest view is dropped
// first.
class KeptViews {
 public:
  static constexpr size_t kLimit = size_t{48} << 20;

  explicit KeptViews(size_t limit_bytes = kLimit) : limit_(limit_bytes) {}

  // Replaces the view of the same prompt and place. A view larger than the limit is not stored.
  void Keep(KeptView view);
  // Returns nullptr if there is none. Valid until another function of this object is called.
  const KeptView* Find(const PromptRequest& request, size_t place) const;
  void Forget(const PromptRequest& request);
  void Clear() { views_.clear(); }
  size_t size() const { return views_.size(); }

 private:
  struct Entry {
    KeptView view;
    size_t bytes = 0;
  };
  std::list<Entry> views_;  // newest first
  size_t limit_;
};

}  // namespace midscope

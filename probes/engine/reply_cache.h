// SPDX-License-Identifier: MIT
// Caches what-if replies for one prompt request, keyed by the what-if request.
#pragma once

#include <cstddef>
#include <list>

#include "probes/engine/engine.h"

namespace midscope {

// A cache of what-if replies, bounded in bytes; the least recently used replies are dropped first.
// Caches complete replies: records of different settings, places or channels are never mixed.
class ReplyCache {
 public:
  explicit ReplyCache(size_t limit_bytes) : limit_(limit_bytes) {}

  // Returns the cached reply to an equal request, valid until the next Add; null if there is none.
  const WhatIfReply* Find(const WhatIfRequest& request);
  // Caches the reply to a request, unless it is larger than the limit.
  void Add(const WhatIfRequest& request, const WhatIfReply& reply);

  size_t bytes() const { return bytes_; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    WhatIfRequest request;
    WhatIfReply reply;
    size_t bytes = 0;
  };
  std::list<Entry> entries_;  // the most recently used first
  size_t limit_;
  size_t bytes_ = 0;
};

// Size in bytes of the numbers and texts in a record's arrays, attributes and axes.
size_t BytesOf(const Record& record);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Cached what-if replies of one prompt request, by the value of the request.
#pragma once

#include <cstddef>
#include <list>

#include "probes/engine/engine.h"

namespace midscope {

// Bounded in bytes; the least recently used reply is dropped first. A reply is whole: records of
// another setting, place or choice of channels are never mixed in.
class ReplyCache {
 public:
  explicit ReplyCache(size_t limit_bytes) : limit_(limit_bytes) {}

  // The reply to an equal request; null if there is none. Valid until the next call of Add.
  const WhatIfReply* Find(const WhatIfRequest& request);
  // A reply that is larger than the limit is not kept.
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

// Bytes of the numbers and texts of a record's arrays, attributes and axes.
size_t BytesOf(const Record& record);

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "probes/engine/reply_cache.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace midscope {
namespace {

size_t BytesOf(const std::vector<std::string>& texts) {
  size_t bytes = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

template <typename Number>
size_t BytesOf(const std::vector<Number>& numbers) {
  return numbers.size() * sizeof(Number);
}

}  // namespace

size_t BytesOf(const Record& record) {
  size_t bytes = sizeof(Record);
  for (const Axis& axis : record.axes) {
    bytes += sizeof(Axis) + BytesOf(axis.labels) + BytesOf(axis.values);
  }
  for (const Array& array : record.arrays) {
    bytes += sizeof(Array) + array.description.size() + BytesOf(array.axes) +
             std::visit([](const auto& data) { return BytesOf(data); }, array.data);
  }
  for (const auto& [name, value] : record.attributes) {
    const auto* text = std::get_if<std::string>(&value);
    bytes += name.size() + sizeof(value) + (text ? text->size() : 0);
  }
  return bytes;
}

const WhatIfReply* ReplyCache::Find(const WhatIfRequest& request) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&request](const Entry& entry) {
    return entry.request == request;
  });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &found->reply;
}

void ReplyCache::Add(const WhatIfRequest& request, const WhatIfReply& reply) {
  std::erase_if(entries_, [&](const Entry& entry) {
    if (entry.request != request) return false;
    bytes_ -= entry.bytes;
    return true;
  });
  Entry entry{request, reply, sizeof(Entry)};
  for (const Record& record : reply.records) entry.bytes += midscope::BytesOf(record);
  if (entry.bytes > limit_) return;
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (bytes_ > limit_) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

}  // namespace midscope

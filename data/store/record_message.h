// SPDX-License-Identifier: MIT
// Converts records to bytes (MessagePack; numbers as little-endian blocks) and back, for a sweep's
// journal and the messages of reader processes. Internal to data/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// One entry of the journal.
struct JournalEntry {
  enum class Kind { kPlan, kSample, kFailure };
  Kind kind = Kind::kSample;
  int64_t sample = 0;
  std::string text;  // kPlan: the plan; kFailure: the message
  Record record;     // for kSample
};

std::vector<uint8_t> EncodeEntry(const JournalEntry& entry);

// Throws Error (failure), which names `file`, if the bytes are not an entry. The record in the
// result passes Record::Check() and CheckFrame().
JournalEntry DecodeEntry(const std::string& file, std::span<const uint8_t> bytes);

// Encodes a record whose arrays have no data.
std::vector<uint8_t> EncodeFrame(const Record& frame);
// Throws Error (failure), which names `file`, if the bytes are not a record. The result is not
// checked further.
Record DecodeFrame(const std::string& file, std::span<const uint8_t> bytes);

}  // namespace midscope

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

// One entry of a sweep's journal (sweep_journal.h).
struct JournalEntry {
  enum class Kind { kPlan, kSample, kFailure };
  Kind kind = Kind::kSample;
  int64_t sample = 0;
  std::string text;  // kPlan: the plan; kFailure: the message
  Record record;     // for kSample
};

std::vector<uint8_t> EncodeEntry(const JournalEntry& entry);

// Decodes an entry of the journal `file`. Throws Error (failure), which names `file`, if the bytes
// are invalid. The decoded record passes Record::Check() and CheckFrame().
JournalEntry DecodeEntry(const std::string& file, std::span<const uint8_t> bytes);

// Encodes a record whose arrays have no data.
std::vector<uint8_t> EncodeFrame(const Record& frame);
// Decodes a record. Throws Error (failure), which names `file`, if the bytes are not a record; does
// not check the record further.
Record DecodeFrame(const std::string& file, std::span<const uint8_t> bytes);

}  // namespace midscope

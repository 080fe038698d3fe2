// SPDX-License-Identifier: MIT
// A sweep's journal, an append-only file of checksummed entries: a header of 128 bytes
// (sweep_lock.h), then for each entry the length, the XXH3-64 hash (8 bytes each, little-endian)
// and the bytes. An incomplete last entry is dropped. Internal to data/.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/store/record_message.h"
#include "data/store/unfinished_files.h"

namespace midscope {

// How a journal is opened.
enum class JournalAccess {
  kWrite,         // creates a missing file; locks out all other processes
  kRead,          // locks out other writers
  kReadUnlocked,  // takes no lock: another process may be writing it
};

class SweepJournal {
 public:
  // Opens a journal. Throws Error (failure) if another process holds the lock, but not if the file
  // system has no locks.
  explicit SweepJournal(std::string path, JournalAccess access = JournalAccess::kWrite);
  ~SweepJournal();
  SweepJournal(const SweepJournal&) = delete;
  SweepJournal& operator=(const SweepJournal&) = delete;

  // Whether this object holds the lock on the journal: false on a file system without locks.
  bool is_locked() const { return is_locked_; }

  // Calls visit(entry, offset) for each complete entry, in order, and returns the number of bytes
  // after the last one; with kWrite, these bytes are removed. Throws Error (failure) if the file is
  // not a journal.
  int64_t Load(const std::function<void(const JournalEntry& entry, int64_t offset)>& visit);

  // Appends an entry, flushes it to the disk and returns its offset. On failure, throws Error
  // (failure) and leaves the journal unchanged.
  int64_t Append(const JournalEntry& entry);
  JournalEntry Read(int64_t offset) const;
  // Removes all entries of the journal.
  void Clear();
  // Removes the journal file.
  void Remove();

 private:
  std::vector<uint8_t> ReadBytes(int64_t offset, int64_t count) const;
  bool ReadFrame(int64_t offset, std::vector<uint8_t>& payload) const;

  std::string path_;
  JournalAccess access_;
  int descriptor_ = -1;
  bool is_locked_ = false;
  int64_t end_ = 0;  // offset of the end of the last complete entry
};

// A summary of a sweep's journal, made without locking or changing the journal.

struct JournalSummary {
  std::string plan_json;       // "": none
  std::set<int64_t> finished;  // samples that succeeded
  std::set<int64_t> failed;
  int64_t torn_bytes = 0;  // bytes of an incomplete last entry
};

// Reads the journal `path`. Throws Error (failure) if it is not a journal or has invalid entries.
JournalSummary SummariseJournal(const std::string& path);

}  // namespace midscope

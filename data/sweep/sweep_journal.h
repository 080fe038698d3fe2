// SPDX-License-Identifier: MIT
// An append-only file of checksummed entries: a head of 128 bytes (sweep_lock.h), then for each
// entry its length and XXH3-64 (8 bytes each, little-endian) and its bytes. A torn last entry is
// dropped. Internal to data/.
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

// The access of a journal's user.
enum class JournalAccess {
  kWrite,         // created if it does not exist; locks out all other processes
  kRead,          // locks out other writers
  kReadUnlocked,  // takes no lock: another process may be writing it
};

class SweepJournal {
 public:
  // A lock held by another process is an Error (failure); a file system without locks is none.
  explicit SweepJournal(std::string path, JournalAccess access = JournalAccess::kWrite);
  ~SweepJournal();
  SweepJournal(const SweepJournal&) = delete;
  SweepJournal& operator=(const SweepJournal&) = delete;

  // Whether others are locked out: false on a file system without locks.
  bool is_locked() const { return is_locked_; }

  // Calls visit(entry, offset) for each complete entry from the start and returns the number of
  // bytes after the last one; with kWrite, these are cut off. Throws Error (failure) for a file
  // that is not a journal.
  int64_t Load(const std::function<void(const JournalEntry& entry, int64_t offset)>& visit);

  // Returns the entry's offset; it is on the disk. Throws Error (failure), and then appends
  // nothing.
  int64_t Append(const JournalEntry& entry);
  JournalEntry Read(int64_t offset) const;
  // Removes all entries.
  void Clear();
  // Removes the file.
  void Remove();

 private:
  std::vector<uint8_t> ReadBytes(int64_t offset, int64_t count) const;
  bool ReadFrame(int64_t offset, std::vector<uint8_t>& payload) const;

  std::string path_;
  JournalAccess access_;
  int descriptor_ = -1;
  bool is_locked_ = false;
  int64_t end_ = 0;  // of the last whole entry
};

// The contents of a sweep's journal (sweep_store.h), read without locking or changing it.

struct JournalSummary {
  std::string plan_json;       // "" if it holds none
  std::set<int64_t> finished;  // samples
  std::set<int64_t> failed;
  int64_t torn_bytes = 0;  // of an incomplete last entry
};

// Throws Error (failure) for a file that is not a journal or has unreadable entries.
JournalSummary SummariseJournal(const std::string& path);

}  // namespace midscope

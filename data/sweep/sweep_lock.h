// SPDX-License-Identifier: MIT
// The lock of a sweep's file: that of the journal beside it, which a running sweep holds.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace midscope {

// Holds the lock of the sweep `path`, without reading or changing its journal. Where the file
// system has no locks, nothing is held.
class SweepLock {
 public:
  // Throws Error (failure) if another process holds it, or the journal can't be created.
  explicit SweepLock(const std::string& path);
  // Removes the journal if it has no entries.
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Throws Error (failure) if another process is writing the sweep `path`.
void CheckNoWriter(const std::string& path);

// A journal that is open for writing.
struct OpenJournal {
  int descriptor = -1;
  bool is_locked = false;  // false on a file system without locks: others may write it too
};
// Creates the journal if it is missing, takes its lock and writes this process' name into its head.
// Throws Error (failure): it can't be opened, or another process has the lock.
OpenJournal OpenForWriting(const std::string& journal);

// "FILE: its file system has no locks ...", a note for whoever writes there.
std::string WithoutLockText(const std::string& path);

// Writes a journal's head: the mark, and "process 12 on node3", padded. Returns whether it could.
bool WriteJournalHead(int descriptor);

// The error of a journal that the process that its head names has locked.
Error HeldFailure(const std::string& journal, int descriptor);

// The size of an open file; 0 if the system doesn't tell it.
int64_t BytesIn(int descriptor);

// "PATH: cannot be WHAT: REASON", of a call of the system that failed (errno).
Error SystemFailure(const std::string& path, const std::string& what);

}  // namespace midscope

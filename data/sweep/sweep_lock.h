// SPDX-License-Identifier: MIT
// The lock on a sweep's results file: a running sweep locks the journal beside the file.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace midscope {

// Holds the lock of the sweep `path`, without reading or changing its journal. Has no effect if the
// file system has no locks.
class SweepLock {
 public:
  // Throws Error (failure) if another process holds the lock, or the journal can't be created.
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

// A journal file that is open for writing.
struct OpenJournal {
  int descriptor = -1;
  bool is_locked = false;  // false if the file system lacks locks
};
// Creates the journal if it is missing, takes its lock and writes this process' name into its head.
// Throws Error (failure) if it can't be opened or another process has the lock.
OpenJournal OpenForWriting(const std::string& journal);

// Returns a warning for the user who writes `path`: "FILE: its file system has no locks ...".
std::string WithoutLockText(const std::string& path);

// Writes a journal's header: kJournalMark and "process 12 on node3", padded. Returns whether
// writing succeeded.
bool WriteJournalHead(int descriptor);

// Returns the Error for a locked journal, which names the process in the journal's header.
Error HeldFailure(const std::string& journal, int descriptor);

// Size of an open file in bytes; 0 if fstat fails.
int64_t BytesIn(int descriptor);

// Returns the error "PATH: cannot be WHAT: REASON" for a failed system call, whose errno is the
// reason.
Error SystemFailure(const std::string& path, const std::string& what);

}  // namespace midscope

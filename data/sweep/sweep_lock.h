// SPDX-License-Identifier: MIT
// The lock of a sweep's file: that of the journal beside it, which a running sweep holds.
#pragma once

#include <string>

#include "core/base/error.h"

namespace midscope {

// Holds the lock of the sweep `path`, without reading or changing its journal. Where the file
// system has no locks, nothing is held.
class SweepLock {
 public:
  // Throws Error (failure) where another process holds it, or the journal can't be created.
  explicit SweepLock(const std::string& path);
  // Removes the journal where it has no entries.
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Throws Error (failure) where another process is writing the sweep `path`.
void CheckNoWriter(const std::string& path);

// Creates the journal where it is missing, and takes its lock. Returns its descriptor. Throws Error
// (failure): it can't be opened, another process has the lock, and, where `needs_lock`, the file
// system has no locks.
int OpenLockedJournal(const std::string& journal, bool needs_lock);

// The error of a journal that another process has locked.
Error HeldFailure(const std::string& journal);

// "PATH: can't be WHAT: REASON", of a call of the system that failed (errno).
Error SystemFailure(const std::string& path, const std::string& what);

}  // namespace midscope

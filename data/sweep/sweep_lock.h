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

// The error of a journal that another process has locked.
Error HeldFailure(const std::string& journal);

// Whether `path` names the open file: its owner may have removed it between open and lock.
bool NamesOpenFile(const std::string& path, int descriptor);

}  // namespace midscope

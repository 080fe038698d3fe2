// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "data/store/unfinished_files.h"

namespace midscope {

SweepLock::SweepLock(const std::string& path) : path_(path) {
  const std::string journal = JournalPath(path);
  do {
    if (descriptor_ >= 0) close(descriptor_);
    // A pipe with its name must not block this call.
    descriptor_ = open(journal.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor_ < 0) {
      throw Failure(journal, "can't be opened: " + std::generic_category().message(errno));
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(descriptor_);
      throw HeldFailure(journal);
    }
  } while (!NamesOpenFile(journal, descriptor_));
}

SweepLock::~SweepLock() {
  if (!HasJournal(path_)) unlink(JournalPath(path_).c_str());
  close(descriptor_);
}

void CheckNoWriter(const std::string& path) {
  const std::string journal = JournalPath(path);
  const int descriptor = open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  if (held) throw HeldFailure(journal);
}

Error HeldFailure(const std::string& journal) {
  return Failure(journal, "another process is writing this sweep",
                 "Wait for it to end, or write to another file");
}

bool NamesOpenFile(const std::string& path, int descriptor) {
  struct stat open_file {};
  struct stat named {};
  return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

}  // namespace midscope

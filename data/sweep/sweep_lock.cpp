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
namespace {

// Whether `path` names the open file: its owner may have removed it between open and lock.
bool NamesOpenFile(const std::string& path, int descriptor) {
  struct stat open_file {};
  struct stat named {};
  return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

}  // namespace

Error SystemFailure(const std::string& path, const std::string& what) {
  const int error_number = errno;
  return Failure(
      path,
      "can't be " + what + ": " + std::error_code(error_number, std::generic_category()).message(),
      error_number == ENOSPC ? "Make room, then resume" : "");
}

Error HeldFailure(const std::string& journal) {
  return Failure(journal, "another process is writing this sweep",
                 "Wait for it to end, or write to another file");
}

int OpenLockedJournal(const std::string& journal, bool needs_lock) {
  while (true) {
    // A pipe with its name must not block this call.
    const int descriptor = open(journal.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0) throw SystemFailure(journal, "opened");
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && (needs_lock || errno == EWOULDBLOCK)) {
      const Error error =
          errno == EWOULDBLOCK ? HeldFailure(journal) : SystemFailure(journal, "locked");
      close(descriptor);
      throw error;
    }
    if (NamesOpenFile(journal, descriptor)) return descriptor;
    close(descriptor);
  }
}

SweepLock::SweepLock(const std::string& path)
    : path_(path), descriptor_(OpenLockedJournal(JournalPath(path), /*needs_lock=*/false)) {}

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

}  // namespace midscope

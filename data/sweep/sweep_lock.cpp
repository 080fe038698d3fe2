// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "data/store/unfinished_files.h"

namespace midscope {
namespace {

// Whether `path` still names the open file, which its owner may have removed before it was locked.
bool NamesOpenFile(const std::string& path, int descriptor) {
  struct stat open_file {};
  struct stat named {};
  return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

}  // namespace

int64_t BytesIn(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_size : 0;
}

Error SystemFailure(const std::string& path, const std::string& what) {
  const int error_number = errno;
  const bool is_forbidden = error_number == EACCES || error_number == EPERM;
  return Failure(
      path,
      "cannot be " + what + ": " + std::error_code(error_number, std::generic_category()).message(),
      error_number == ENOSPC ? "Make room; the same command with --resume then continues"
      : is_forbidden         ? "Ask its owner for the permission, or write to another file"
                             : "");
}

bool WriteJournalHead(int descriptor) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  std::string head(kJournalMark);
  head += fmt::format("process {} on {}", getpid(), host.data());
  head.resize(kJournalHeadBytes);
  return pwrite(descriptor, head.data(), head.size(), 0) == std::ssize(head);
}

Error HeldFailure(const std::string& journal, int descriptor) {
  std::string head(kJournalHeadBytes, '\0');
  const ssize_t count = pread(descriptor, head.data(), head.size(), 0);
  const bool named = count == std::ssize(head) && head.starts_with(kJournalMark);
  const std::string writer = named ? head.c_str() + kJournalMark.size() : "";
  return Failure(journal,
                 "another process is writing this sweep" +
                     (writer.empty() ? "" : " (" + DisplayText(writer) + ")"),
                 "Wait for it to end, or write to another file");
}

OpenJournal OpenForWriting(const std::string& journal) {
  while (true) {
    // O_NONBLOCK: opening must not block if the path is a named pipe.
    const int descriptor = open(journal.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0) throw SystemFailure(journal, "opened");
    const bool is_locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (!is_locked && errno == EWOULDBLOCK) {
      const Error error = HeldFailure(journal, descriptor);
      close(descriptor);
      throw error;
    }
    if (NamesOpenFile(journal, descriptor)) {
      // Ignores errors of writing: reading or writing the journal later reports a foreign file or a
      // full disk.
      if (IsJournal(journal) || BytesIn(descriptor) == 0) WriteJournalHead(descriptor);
      return {descriptor, is_locked};
    }
    close(descriptor);
  }
}

std::string WithoutLockText(const std::string& path) {
  return path + ": its file system has no locks; see that no other process writes the file";
}

SweepLock::SweepLock(const std::string& path)
    : path_(path), descriptor_(OpenForWriting(JournalPath(path)).descriptor) {}

SweepLock::~SweepLock() {
  if (!HasJournal(path_)) unlink(JournalPath(path_).c_str());
  close(descriptor_);
}

void CheckNoWriter(const std::string& path) {
  const std::string journal = JournalPath(path);
  const int descriptor = open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    const Error error = HeldFailure(journal, descriptor);
    close(descriptor);
    throw error;
  }
  close(descriptor);
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <xxhash.h>

#include "core/base/error.h"
#include "data/store/durable_file.h"
#include "data/store/plan_text.h"
#include "data/sweep/sweep_lock.h"

namespace midscope {

namespace {

constexpr auto kFirstEntry = static_cast<int64_t>(kJournalHeadBytes);

struct FrameHead {
  uint64_t length = 0;
  uint64_t checksum = 0;
};
constexpr int64_t kHeadBytes = sizeof(FrameHead);

bool WriteAll(int descriptor, const uint8_t* bytes, size_t size, int64_t offset) {
  while (size > 0) {
    const ssize_t count = pwrite(descriptor, bytes, size, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes += count;
    offset += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

SweepJournal::SweepJournal(std::string path, JournalAccess access)
    : path_(std::move(path)), access_(access) {
  if (access == JournalAccess::kWrite) {
    const OpenJournal open = OpenForWriting(path_);
    descriptor_ = open.descriptor;
    is_locked_ = open.is_locked;
    return;
  }
  // O_NONBLOCK: opening must not block if the path is a named pipe.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw SystemFailure(path_, "opened");
  if (access == JournalAccess::kReadUnlocked) return;
  is_locked_ = flock(descriptor_, LOCK_SH | LOCK_NB) == 0;
  if (is_locked_ || errno != EWOULDBLOCK) return;
  const Error error = HeldFailure(path_, descriptor_);
  close(descriptor_);
  throw error;
}

SweepJournal::~SweepJournal() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::vector<uint8_t> SweepJournal::ReadBytes(int64_t offset, int64_t count) const {
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  int64_t done = 0;
  while (done < count) {
    const ssize_t got =
        pread(descriptor_, bytes.data() + done, static_cast<size_t>(count - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemFailure(path_, "read");
    if (got == 0) throw Failure(path_, "was cut off while it was in use");
    done += got;
  }
  return bytes;
}

bool SweepJournal::ReadFrame(int64_t offset, std::vector<uint8_t>& payload) const {
  const int64_t left = BytesIn(descriptor_) - offset;
  if (left < kHeadBytes) return false;
  FrameHead head;
  std::memcpy(&head, ReadBytes(offset, kHeadBytes).data(), sizeof(head));
  if (head.length > static_cast<uint64_t>(left - kHeadBytes)) return false;
  payload = ReadBytes(offset + kHeadBytes, static_cast<int64_t>(head.length));
  return XXH3_64bits(payload.data(), payload.size()) == head.checksum;
}

int64_t SweepJournal::Load(
    const std::function<void(const JournalEntry& entry, int64_t offset)>& visit) {
  const int64_t size = BytesIn(descriptor_);
  const bool write = access_ == JournalAccess::kWrite;
  const std::vector<uint8_t> head = ReadBytes(0, std::min(size, kFirstEntry));
  if (!BeginsJournal({reinterpret_cast<const char*>(head.data()), head.size()}))
    throw Failure(path_, "is not a journal of Midscope", "Move it away");
  if (size < kFirstEntry) {  // the file is new, or truncated in its header
    if (write) Clear();
    return size;
  }
  end_ = kFirstEntry;
  std::vector<uint8_t> payload;
  while (ReadFrame(end_, payload)) {
    visit(DecodeEntry(path_, payload), end_);
    end_ += kHeadBytes + static_cast<int64_t>(payload.size());
  }
  if (write && end_ < size && ftruncate(descriptor_, end_) != 0) throw SystemFailure(path_, "cut");
  return size - end_;
}

int64_t SweepJournal::Append(const JournalEntry& entry) {
  const std::vector<uint8_t> payload = EncodeEntry(entry);
  const FrameHead head{payload.size(), XXH3_64bits(payload.data(), payload.size())};
  std::vector<uint8_t> frame(sizeof(head) + payload.size());
  std::memcpy(frame.data(), &head, sizeof(head));
  std::memcpy(frame.data() + sizeof(head), payload.data(), payload.size());
  if (!WriteAll(descriptor_, frame.data(), frame.size(), end_) || fdatasync(descriptor_) != 0) {
    const Error error = SystemFailure(path_, "written");
    // Removes the incomplete entry to free space; on reading, its checksum would fail anyway.
    if (ftruncate(descriptor_, end_) != 0) throw SystemFailure(path_, "cut");
    throw error;
  }
  const int64_t offset = end_;
  end_ += static_cast<int64_t>(frame.size());
  return offset;
}

JournalEntry SweepJournal::Read(int64_t offset) const {
  std::vector<uint8_t> payload;
  if (!ReadFrame(offset, payload)) throw Failure(path_, "was changed while it was in use");
  return DecodeEntry(path_, payload);
}

void SweepJournal::Clear() {
  if (ftruncate(descriptor_, 0) != 0 || !WriteJournalHead(descriptor_) || fsync(descriptor_) != 0)
    throw SystemFailure(path_, "written");
  SyncFolderOf(path_);
  end_ = kFirstEntry;
}

void SweepJournal::Remove() {
  // Ignores ENOENT: another program, such as a cleanup of a shared disk, may have removed the file.
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) throw SystemFailure(path_, "removed");
  close(descriptor_);
  descriptor_ = -1;
  SyncFolderOf(path_);
}

JournalSummary SummariseJournal(const std::string& path) {
  JournalSummary summary;
  SweepJournal journal(path, JournalAccess::kReadUnlocked);
  summary.torn_bytes = journal.Load([&](const JournalEntry& entry, int64_t) {
    switch (entry.kind) {
      case JournalEntry::Kind::kPlan:
        CheckJsonText(path, "plan", entry.text);
        summary.plan_json = entry.text;
        break;
      case JournalEntry::Kind::kSample:
        summary.finished.insert(entry.sample);
        summary.failed.erase(entry.sample);
        break;
      case JournalEntry::Kind::kFailure:
        summary.failed.insert(entry.sample);
        break;
    }
  });
  return summary;
}

}  // namespace midscope

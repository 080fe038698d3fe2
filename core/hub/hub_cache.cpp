// SPDX-License-Identifier: MIT
#include "core/hub/hub_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr auto kLockPoll = std::chrono::milliseconds(100);
constexpr int64_t kSpaceReserve = 64 << 20;  // disk space that is left free for other programs

void MakeCacheFolder(const std::filesystem::path& folder) {
  MakeFolder(folder, "Check its permissions, or set HF_HOME to a folder that you may write to");
}

void Rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(from, ignored);
  throw Failure(to.string(), "it cannot be written (" + error.message() + ")");
}

// Returns a unique name in the folder of `path`.
std::filesystem::path Beside(const std::filesystem::path& path) {
  static std::atomic<int> count = 0;
  return fmt::format("{}.{}-{}.tmp", path.string(), ::getpid(), ++count);
}

}  // namespace

HubCacheModel::HubCacheModel(std::filesystem::path cache, HubKind kind, const std::string& model)
    : cache_(std::move(cache)) {
  const size_t slash = model.find('/');
  name_ = (kind == HubKind::kModel ? "models--" : "datasets--") + model.substr(0, slash) + "--" +
          model.substr(slash + 1);
  folder_ = cache_ / name_;
  MakeCacheFolder(folder_ / "blobs");
  MakeCacheFolder(cache_ / ".locks" / name_);
}

std::filesystem::path HubCacheModel::Part(const HubFile& file) const {
  return folder_ / "blobs" / (file.hash + ".incomplete");
}

std::filesystem::path HubCacheModel::Lock(const HubFile& file) const {
  return cache_ / ".locks" / name_ / (file.hash + ".lock");
}

std::filesystem::path HubCacheModel::Snapshot(const std::string& commit) const {
  return folder_ / "snapshots" / commit;
}

int64_t HubCacheModel::MissingBytes(const HubFile& file) const {
  std::error_code error;
  const auto whole = std::filesystem::file_size(Blob(file), error);
  if (!error && static_cast<int64_t>(whole) == file.bytes) return 0;
  const auto part = std::filesystem::file_size(Part(file), error);
  if (error || static_cast<int64_t>(part) > file.bytes) return file.bytes;
  return file.bytes - static_cast<int64_t>(part);
}

void HubCacheModel::Link(const HubFile& file, const std::string& commit) const {
  const std::filesystem::path link = Snapshot(commit) / file.name;
  MakeCacheFolder(link.parent_path());
  const std::filesystem::path target =
      std::filesystem::relative(folder_ / "blobs", link.parent_path()) / file.hash;
  std::error_code error;
  if (std::filesystem::read_symlink(link, error) == target && !error) return;
  const std::filesystem::path temporary = Beside(link);
  std::filesystem::remove(temporary, error);
  std::filesystem::create_symlink(target, temporary, error);
  if (error) {
    throw Failure(link.string(), "the link cannot be made (" + error.message() + ")",
                  "The cache needs a file system with symbolic links: set HF_HOME to another");
  }
  Rename(temporary, link);
}

void HubCacheModel::WriteRef(const std::string& revision, const std::string& commit) const {
  if (revision == commit) return;
  const std::filesystem::path ref = folder_ / "refs" / revision;
  MakeCacheFolder(ref.parent_path());
  const std::filesystem::path temporary = Beside(ref);
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  PartFile file(temporary);
  file.Append(std::as_bytes(std::span(commit)));
  file.MoveTo(ref);
}

void HubCacheModel::CheckSpace(int64_t bytes) const {
  std::error_code error;
  const auto space = std::filesystem::space(folder_, error);
  if (error) return;  // the write will report it
  const auto free =
      static_cast<int64_t>(std::min<uintmax_t>(space.available, static_cast<uintmax_t>(INT64_MAX)));
  if (bytes == 0 || free - kSpaceReserve >= bytes) return;
  throw Failure(folder_.string(),
                "the model takes " + BytesText(bytes) + " more, and the disk has " +
                    BytesText(free) + " left",
                "Free some space, or set HF_HOME to a folder on another disk");
}

FileLock::FileLock(const std::filesystem::path& path, const std::string& thing,
                   const JobContext& context)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_.get() < 0) {
    throw Failure(path.string(), std::string("it cannot be written: ") + std::strerror(errno));
  }
  bool told = false;
  while (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;  // a file system without locks
    if (!told) context.Log(thing + ": another process fetches it; waiting");
    told = true;
    context.ThrowIfCancelled();
    std::this_thread::sleep_for(kLockPoll);
  }
}

bool HasContent(const std::filesystem::path& path, const HubFile& file, const JobContext& context) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || static_cast<int64_t>(size) != file.bytes) return false;
  std::ifstream stream(path, std::ios::binary);
  ContentHash hash(file.hash_kind, file.bytes);
  std::vector<char> buffer(1 << 20);
  int64_t at = 0;
  while (stream) {
    context.ThrowIfCancelled();
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto read = static_cast<size_t>(stream.gcount());
    hash.Add(std::as_bytes(std::span(buffer).first(read)));
    at += static_cast<int64_t>(read);
    context.Report({"check " + DisplayText(file.name), at, file.bytes, "bytes"});
  }
  return at == file.bytes && hash.Finish() == file.hash;
}

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    errno = error;
    Fail("it cannot be written");
  }
  size_ = status.st_size;
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PartFile::Fail(const std::string& what) const {
  const int error = errno;
  throw Failure(path_.string(), what + ": " + std::strerror(error),
                error == ENOSPC || error == EDQUOT
                    ? "Free some space and run the command again: it goes on where it stopped"
                    : "");
}

void PartFile::Append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), size_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) Fail("writing fails");
    size_ += written;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void PartFile::Clear() {
  if (::ftruncate(descriptor_, 0) != 0) Fail("it cannot be emptied");
  size_ = 0;
}

void PartFile::AddTo(ContentHash* hash, const JobContext& context) const {
  std::vector<std::byte> buffer(1 << 20);
  int64_t at = 0;
  while (at < size_) {
    context.ThrowIfCancelled();
    const ssize_t read = ::pread(descriptor_, buffer.data(), buffer.size(), at);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) Fail("reading fails");
    hash->Add(std::span(buffer).first(static_cast<size_t>(read)));
    at += read;
  }
}

void PartFile::MoveTo(const std::filesystem::path& path) {
  if (::fsync(descriptor_) != 0) Fail("writing fails");
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) Fail("writing fails");
  Rename(path_, path);
}

}  // namespace midscope

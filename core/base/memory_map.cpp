// SPDX-License-Identifier: MIT
#include "core/base/memory_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"

namespace midscope {

namespace {

std::string SystemReason(int error_number) { return std::system_category().message(error_number); }

}  // namespace

MemoryMap::MemoryMap(const std::filesystem::path& path) : path_(path) {
  const std::string thing = path.string().empty() ? "model file" : path.string();
  // Not blocking, so that a named pipe is refused below instead of waited for.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int error_number = errno;
    throw Failure(thing, "cannot be opened (" + SystemReason(error_number) + ")",
                  error_number == ENOENT ? "Check the path" : "");
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw Failure(thing, SystemReason(errno));
  if (S_ISDIR(status.st_mode))
    throw Failure(thing, "is a folder, not a file", "Name the file in it");
  if (!S_ISREG(status.st_mode))
    throw Failure(thing, "is not a regular file", "Copy it to a file first");
  if (status.st_size == 0) throw Failure(thing, "is empty");
  void* address =
      mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED)
    throw Failure(thing, "cannot be mapped (" + SystemReason(errno) + ")" + MemoryLimitText());
  data_ = static_cast<std::byte*>(address);
  size_ = status.st_size;
  guard_ = std::make_unique<MappedFileGuard>(bytes());
}

MemoryMap::~MemoryMap() {
  guard_.reset();
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_));
}

MemoryMap::MemoryMap(MemoryMap&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      guard_(std::move(other.guard_)) {}

MemoryMap& MemoryMap::operator=(MemoryMap&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(guard_, other.guard_);
  return *this;
}

void MemoryMap::CheckWhole() const {
  if (!guard_ || !guard_->cut_off()) return;
  throw Failure(path_.string(), "was cut off while it was in use",
                "Copy or fetch the file again, then open it again");
}

void MemoryMap::DontNeed(int64_t begin, int64_t end) const noexcept {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t first = (begin + page - 1) / page * page;
  const int64_t last = end / page * page;
  if (begin < 0 || end > size_ || first >= last) return;
  madvise(data_ + first, static_cast<size_t>(last - first), MADV_DONTNEED);
}

void DontNeedInside(std::span<const MemoryMap> maps, const std::byte* data,
                    int64_t bytes) noexcept {
  for (const MemoryMap& map : maps) {
    if (data < map.data() || data >= map.data() + map.size()) continue;
    const int64_t begin = data - map.data();
    map.DontNeed(begin, begin + bytes);
  }
}

}  // namespace midscope

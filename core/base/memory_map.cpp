// SPDX-License-Identifier: MIT
#include "core/base/memory_map.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
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
  if (status.st_size == 0)
    throw Failure(thing, "is empty", "Check that it was written or copied whole");
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

namespace {

// A file mapping for the SIGBUS handler; static and atomic, as a signal may arrive at any time.
struct Slot {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;  // set last: 0 while the slot is being prepared
  std::atomic<bool> cut_off = false;
};

std::array<Slot, 256> slots;
struct sigaction previous;
std::uintptr_t page_bytes = 0;

// Maps zeros from the page that was read to the mapping's end, all of which is beyond the file's
// end.
bool CoverWithZeros(Slot& slot, std::uintptr_t address) {
  const std::uintptr_t end = slot.end;
  if (end == 0 || address < slot.begin || address >= end) return false;
  const std::uintptr_t page = address / page_bytes * page_bytes;
  slot.cut_off = true;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): where the fault was
  return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void OnBusError(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    if (CoverWithZeros(slot, address)) return;  // the read is repeated
  }
  sigaction(SIGBUS, &previous,
            nullptr);  // the fault occurs again, as if this handler did not exist
}

}  // namespace

void GuardMappedFiles() {
  UseSignalStack();
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
}

MappedFileGuard::MappedFileGuard(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slot_ = static_cast<int>(i);
    slots[i].cut_off = false;
    slots[i].begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    slots[i].end = reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size();
    return;
  }
}

MappedFileGuard::~MappedFileGuard() {
  if (slot_ < 0) return;
  Slot& slot = slots[static_cast<size_t>(slot_)];
  slot.end = 0;
  slot.begin = 0;
  slot.taken = false;
}

bool MappedFileGuard::cut_off() const {
  return slot_ >= 0 && slots[static_cast<size_t>(slot_)].cut_off;
}

namespace {

class SignalStack {
 public:
  SignalStack() {
    stack_t own{};
    if (sigaltstack(nullptr, &own) != 0 || (own.ss_flags & SS_DISABLE) == 0) return;
    bytes_ = std::make_unique<Bytes>();
    own = {bytes_->data(), 0, bytes_->size()};
    sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (bytes_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  using Bytes = std::array<std::byte, 1 << 16>;
  std::unique_ptr<Bytes> bytes_;
};

}  // namespace

void UseSignalStack() { static const thread_local SignalStack stack; }

}  // namespace midscope

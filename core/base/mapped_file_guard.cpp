// SPDX-License-Identifier: MIT
#include "core/base/mapped_file_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace midscope {

namespace {

// Data that the handler reads: static and atomic, because a signal may arrive at any time.
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

// SPDX-License-Identifier: MIT
// Mapped files that are truncated while in use. Reading beyond a file's new end is SIGBUS, which
// would end the process, and with it a window full of work. Internal to core, except
// GuardMappedFiles().
#pragma once

#include <cstddef>
#include <span>

namespace midscope {

// From now on such reads give zeros, and MemoryMap::CheckWhole() throws. Installs a handler for
// SIGBUS, which leaves every other cause as it was, and a stack for it in this thread; other
// threads that read mapped files call UseSignalStack (signal_stack.h). For main().
void GuardMappedFiles();

// One mapping that the handler guards. Mappings beyond the handler's capacity stay unguarded.
class MappedFileGuard {
 public:
  explicit MappedFileGuard(std::span<const std::byte> bytes);
  ~MappedFileGuard();
  MappedFileGuard(const MappedFileGuard&) = delete;
  MappedFileGuard& operator=(const MappedFileGuard&) = delete;

  // Whether a read found the file cut off.
  bool cut_off() const;

 private:
  int slot_ = -1;  // -1: unguarded
};

// A stack for the signal handlers of a thread. Internal to core and probes.

// Handlers that have SA_ONSTACK run on it in the calling thread from now on, until the thread ends.
// Measured: interrupted in one of oneDNN's generated products, a handler on the thread's own stack
// damages what the product keeps below its stack pointer, and with that the heap. No effect where
// the thread has one.
void UseSignalStack();

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Protection against mapped files that are truncated while in use. Reading beyond a file's new end
// raises SIGBUS, which would end the process and lose the work in its window. Internal to core,
// except GuardMappedFiles().
#pragma once

#include <cstddef>
#include <span>

namespace midscope {

// After this call, reads beyond a truncated file's end give zeros, and MemoryMap::CheckWhole()
// throws. Installs a handler for SIGBUS, which leaves the signal's other causes unchanged, and a
// signal stack for this thread; other threads that read mapped files call UseSignalStack
// (signal_stack.h). Called by main().
void GuardMappedFiles();

// A mapping that the handler guards. Mappings beyond the handler's capacity stay unguarded.
class MappedFileGuard {
 public:
  explicit MappedFileGuard(std::span<const std::byte> bytes);
  ~MappedFileGuard();
  MappedFileGuard(const MappedFileGuard&) = delete;
  MappedFileGuard& operator=(const MappedFileGuard&) = delete;

  // Whether a read has found the file truncated.
  bool cut_off() const;

 private:
  int slot_ = -1;  // -1: unguarded
};

// A separate stack for the signal handlers of a thread. Internal to core and probes.

// Makes the calling thread run its SA_ONSTACK handlers on a separate stack until the thread ends.
// Measured: a handler on the thread's own stack that interrupts one of oneDNN's generated matrix
// products overwrites data that the product keeps below its stack pointer, which corrupts the heap.
// No effect if the thread already has such a stack.
void UseSignalStack();

}  // namespace midscope

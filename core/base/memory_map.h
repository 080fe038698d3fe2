// SPDX-License-Identifier: MIT
// A file's bytes, mapped read-only. Pages are loaded when they are touched and can be given back,
// so that opening a file of gigabytes costs nothing and converted data does not stay in memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace midscope {

// After this call, reads beyond the new end of a file that is truncated while it is mapped give
// zeros, and MemoryMap::CheckWhole() throws; without it they raise SIGBUS, which ends the process.
// Installs a handler for SIGBUS, which leaves the signal's other causes unchanged, and a signal
// stack for this thread; other threads that read mapped files call UseSignalStack. Called by
// main().
void GuardMappedFiles();

// Registers a file mapping with GuardMappedFiles' handler. Mappings beyond its capacity stay
// unguarded.
class MappedFileGuard {
 public:
  explicit MappedFileGuard(std::span<const std::byte> bytes);
  ~MappedFileGuard();
  MappedFileGuard(const MappedFileGuard&) = delete;
  MappedFileGuard& operator=(const MappedFileGuard&) = delete;

  // Whether a read has found the file truncated.
  bool cut_off() const;

 private:
  int slot_ = -1;  // -1: not registered
};

// Makes the calling thread run its SA_ONSTACK handlers on a separate stack until the thread ends.
// Measured: a handler on the thread's own stack that interrupts one of oneDNN's generated matrix
// products overwrites data that the product keeps below its stack pointer, which corrupts the heap.
// No effect if the thread already has such a stack.
void UseSignalStack();

// A read-only memory map of a file. Move-only; pointers into the map stay valid when it is moved.
// If the file is truncated while it is mapped, reads beyond its end give zeros if
// GuardMappedFiles() was called, and end the process (SIGBUS) otherwise.
class MemoryMap {
 public:
  // Throws Error if the file does not exist, is not a regular file, is empty or may not be read, or
  // if the mapping is refused.
  explicit MemoryMap(const std::filesystem::path& path);
  ~MemoryMap();
  MemoryMap(MemoryMap&& other) noexcept;
  MemoryMap& operator=(MemoryMap&& other) noexcept;
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  const std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, static_cast<size_t>(size_)}; }
  const std::filesystem::path& path() const { return path_; }

  // Throws Error (failure) if a read has found the file truncated: the data read from it is wrong.
  void CheckWhole() const;

  // Gives back the whole pages inside bytes [begin, end); they are loaded again when read. Only a
  // hint: never fails.
  void DontNeed(int64_t begin, int64_t end) const noexcept;

 private:
  std::filesystem::path path_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  std::unique_ptr<MappedFileGuard> guard_;
};

// Gives back the whole pages inside the `bytes` bytes at `data` (MemoryMap::DontNeed). No effect if
// `data` is in none of the maps.
void DontNeedInside(std::span<const MemoryMap> maps, const std::byte* data, int64_t bytes) noexcept;

// Returns a copy of `values` in memory with large pages, if the system provides them on demand:
// allocating and freeing pages of 4 KiB takes longer than copying their contents.
inline std::vector<float> LargeCopy(const std::vector<float>& values) {
  std::vector<float> copy;
  copy.reserve(values.size());
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr size_t kPage = size_t{1} << 21;
  void* first = copy.data();
  size_t bytes = values.size() * sizeof(float);
  // madvise may fail without harm: the copy is then only slower.
  if (std::align(kPage, kPage, first, bytes))
    (void)madvise(first, bytes / kPage * kPage, MADV_HUGEPAGE);
#endif
  copy.assign(values.begin(), values.end());
  return copy;
}

}  // namespace midscope

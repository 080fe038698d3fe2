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

#include "core/base/mapped_file_guard.h"

#ifdef __linux__
#endif

namespace midscope {

// Move-only; pointers into the map stay valid when it is moved. If the file is truncated while it
// is mapped, reads beyond its end give zeros if GuardMappedFiles() was called
// (mapped_file_guard.h), and end the process (SIGBUS) otherwise.
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

// Like MemoryMap::DontNeed, for `bytes` bytes at `data` in one of the maps; no effect if `data` is
// in none of them.
void DontNeedInside(std::span<const MemoryMap> maps, const std::byte* data, int64_t bytes) noexcept;

// Fast copies of arrays of many megabytes.

// Returns a copy of `values` in memory with large pages, if the system provides them on demand:
// allocating and freeing pages of 4 KiB takes longer than copying their contents.
inline std::vector<float> LargeCopy(const std::vector<float>& values) {
  std::vector<float> copy;
  copy.reserve(values.size());
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr size_t kPage = size_t{1} << 21;
  void* first = copy.data();
  size_t bytes = values.size() * sizeof(float);
  // If the system ignores the advice, the copy is only slower.
  if (std::align(kPage, kPage, first, bytes))
    (void)madvise(first, bytes / kPage * kPage, MADV_HUGEPAGE);
#endif
  copy.assign(values.begin(), values.end());
  return copy;
}

}  // namespace midscope

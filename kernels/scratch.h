// SPDX-License-Identifier: MIT
// Working memory of kernels, kept between calls: newly allocated megabytes cost a page fault per 4
// KiB, which for short prompts takes as long as the arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace midscope::kernels {

// A block of memory, aligned to a cache line, that grows on demand and never shrinks.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Scratch& operator=(Scratch&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // Returns at least `bytes` bytes; their contents are unspecified. Throws std::bad_alloc.
  void* Get(size_t bytes) {
    if (bytes > size_) {
      const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      data_.reset();
      size_ = 0;
      data_.reset(std::aligned_alloc(kAlignment, rounded));
      if (!data_) throw std::bad_alloc();
      size_ = rounded;
    }
    return data_.get();
  }

  size_t size() const { return size_; }

 private:
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::unique_ptr<void, Free> data_;
  size_t size_ = 0;
};

// Guard that borrows the calling thread's Scratch. A nested guard on the same thread (a thread pool
// may run other work while it waits) allocates a new one.
template <class Tag>
class BorrowedScratch {
 public:
  BorrowedScratch() : scratch_(std::move(Kept())) {}
  ~BorrowedScratch() {
    if (scratch_.size() <= kKeepBytes) Kept() = std::move(scratch_);
  }
  BorrowedScratch(const BorrowedScratch&) = delete;
  BorrowedScratch& operator=(const BorrowedScratch&) = delete;

  template <class T>
  T* Get(int64_t count) {
    return static_cast<T*>(scratch_.Get(static_cast<size_t>(count) * sizeof(T)));
  }

 private:
  // Maximum size that is kept: keeping more memory costs more than mapping it again.
  static constexpr size_t kKeepBytes = size_t{64} << 20;
  static Scratch& Kept() {
    thread_local Scratch kept;
    return kept;
  }
  Scratch scratch_;
};

}  // namespace midscope::kernels

// SPDX-License-Identifier: MIT
// Runs the bodies of CUDA kernels on the CPU, block by block, with a GPU's semantics: each thread
// of a block calls the body and runs up to the next barrier, or the next operation of its warp,
// before another thread runs. Threads run in ascending or descending order. A thread that reads a
// value which another thread has not written yet, or has already overwritten, then reads a wrong
// value, so a missing barrier gives a wrong result. Under ThreadSanitizer (.ci/sanitize-threads) it
// is reported as a data race.
//
//     RunOnHost(ScaleGrid(arguments), backwards,
//               [&](HostMachine& machine) { ScaleBlock(machine, arguments); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "kernels/cuda/machine.h"
#include "tests/kernels/support/fibers.h"

namespace midscope::kernels::cuda {

// Whether a race is reported whatever the order of threads, so that one order suffices.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kReportsRaces = true;
#else
inline constexpr bool kReportsRaces = false;
#endif

class HostBlock;

// The operands of one thread for an operation of its warp.
struct WarpOperands {
  void* sum = nullptr;  // input and output
  const void* left = nullptr;
  const void* right = nullptr;
};
// An operation on the operands of the warp's threads, in thread order.
using WarpOperation = void (*)(const WarpOperands* of_lanes);

// One thread of a block (kernels/cuda/machine.h).
class HostMachine {
 public:
  // Contains NaN until it is written.
  template <class T>
  struct PerThread {
    explicit PerThread(const HostMachine&) {
      if constexpr (std::is_trivially_default_constructible_v<T>)
        std::memset(&value, 255, sizeof(T));
    }
    T& operator[](int) { return value; }
    T value;
  };

  HostMachine(HostBlock* of, int thread) : of_(of), thread_(thread) {}

  BlockIndex block() const;
  BlockIndex blocks() const;
  int threads() const;

  template <class T>
  T* Shared(int count) {
    std::byte* values = SharedAt(taken_, static_cast<size_t>(count) * sizeof(T));
    taken_ += (static_cast<size_t>(count) * sizeof(T) + 15) / 16 * 16;
    return reinterpret_cast<T*>(values);
  }

  template <class F>
  void Each(const F& work) const {
    work(thread_);
  }
  void Barrier() const;
  void AwaitEarlierWork() const;
  void Prefetch(const void*) const {}
  void ReadAgain() const {}

  template <int bits, class F>
  void GroupMax(const F& value) const {
    InWarp(&CombineGroups<bits, Larger>, {&value(thread_)});
  }
  template <int bits, class F>
  void GroupSum(const F& value) const {
    InWarp(&CombineGroups<bits, Sum>, {&value(thread_)});
  }

  // The value of the thread in the warp whose number is this thread's XOR `mask`. Throws Error if
  // threads of the warp are at different places in their code.
  uint32_t FromLane(uint32_t value, int mask, int place) const {
    Shuffled mine = {value, mask, place};
    InWarp(&Shuffle, {&value, &mine});
    return value;
  }

  template <class T, class C, class A, class B>
  void Multiply(const C& c, const A& a, const B& b) const {
    InWarp(&MultiplyTiles<T>, {c(thread_), a(thread_), b(thread_)});
  }

  template <bool kTransposed, class Of, class Row>
  void LoadFour(const Of& of, const Row& row) const {
    const void* mine = row(thread_);
    CheckAligned(mine);
    const void* rows[kWarp];
    InWarp(&GatherRows, {rows, mine});
    const int lane = thread_ % kWarp;
    for (int tile = 0; tile < 4; ++tile) {
      uint32_t pair = 0;
      for (int i = 0; i < 2; ++i) {
        const int along = lane % 4 * 2 + i;
        const int across = lane / 4;
        const auto* from =
            static_cast<const uint16_t*>(rows[tile * 8 + (kTransposed ? along : across)]);
        pair |= uint32_t{from[kTransposed ? across : along]} << (16 * i);
      }
      of(thread_)[tile] = pair;
    }
  }

  // The copy is made when it is waited for; until then `to` contains NaN.
  void CopyAsync(void* to, const void* from, bool there) {
    CheckAligned(to);
    CheckAligned(from);
    *static_cast<Words*>(to) = {~0u, ~0u, ~0u, ~0u};
    copies_.push_back({static_cast<Words*>(to), there ? static_cast<const Words*>(from) : nullptr});
  }
  void AwaitCopies() {
    for (const Copy& copy : copies_) *copy.to = copy.from ? *copy.from : Words{};
    copies_.clear();
  }

 private:
  static float Larger(float a, float b) { return a > b ? a : b; }
  static float Sum(float a, float b) { return a + b; }

  template <int bits, float (*combine)(float, float)>
  MIDSCOPE_UNWATCHED static void CombineGroups(const WarpOperands* of_lanes) {
    for (int bit = 0; bit < bits; ++bit) {
      float before[kWarp];
      for (int lane = 0; lane < kWarp; ++lane) {
        before[lane] = *static_cast<const float*>(of_lanes[lane].sum);
      }
      for (int lane = 0; lane < kWarp; ++lane) {
        *static_cast<float*>(of_lanes[lane].sum) = combine(before[lane], before[lane ^ (1 << bit)]);
      }
    }
  }

  struct Shuffled {
    uint32_t value;
    int mask;
    int place;
  };
  static void Shuffle(const WarpOperands* of_lanes);

  // Passes the operands of all threads to each thread.
  MIDSCOPE_UNWATCHED static void GatherRows(const WarpOperands* of_lanes) {
    for (int lane = 0; lane < kWarp; ++lane) {
      auto* rows = static_cast<const void**>(of_lanes[lane].sum);
      for (int other = 0; other < kWarp; ++other) rows[other] = of_lanes[other].left;
    }
  }

  template <class T>
  MIDSCOPE_UNWATCHED static void MultiplyTiles(const WarpOperands* of_lanes) {
    float left[16][16];
    float right[16][8];
    for (int lane = 0; lane < kWarp; ++lane) {
      const int row = lane / 4;
      const int column = lane % 4 * 2;
      for (int part = 0; part < 4; ++part) {
        const uint32_t pair = static_cast<const uint32_t*>(of_lanes[lane].left)[part];
        float* at = &left[row + part % 2 * 8][column + part / 2 * 8];
        at[0] = LowOf<T>(pair);
        at[1] = HighOf<T>(pair);
      }
      for (int part = 0; part < 2; ++part) {
        const uint32_t pair = static_cast<const uint32_t*>(of_lanes[lane].right)[part];
        right[column + part * 8][row] = LowOf<T>(pair);
        right[column + part * 8 + 1][row] = HighOf<T>(pair);
      }
    }
    for (int lane = 0; lane < kWarp; ++lane) {
      for (int part = 0; part < 4; ++part) {
        float& sum = static_cast<float*>(of_lanes[lane].sum)[part];
        for (int k = 0; k < 16; ++k) {
          sum += left[lane / 4 + part / 2 * 8][k] * right[k][lane % 4 * 2 + part % 2];
        }
      }
    }
  }

  struct Copy {
    Words* to;
    const Words* from;  // null: zeros
  };

  static void CheckAligned(const void* at);
  std::byte* SharedAt(size_t offset, size_t bytes) const;
  // Returns when the operation is done, which is when all threads of the warp have requested it.
  void InWarp(WarpOperation operation, const WarpOperands& operands) const;

  HostBlock* of_;
  int thread_;
  size_t taken_ = 0;  // bytes of shared memory
  std::vector<Copy> copies_;
};

// Runs the body for every block of the grid in sequence, with threads in descending order if
// `backwards`. `earlier`: work started before the kernel; it is done when a block first waits for
// it. Throws Error if the threads of a block diverge at a barrier, if those of a warp diverge at an
// operation, or if more shared memory is used than the grid requests.
void RunOnHost(const Grid& grid, bool backwards, const std::function<void(HostMachine&)>& body,
               const std::function<void()>& earlier = {});

}  // namespace midscope::kernels::cuda

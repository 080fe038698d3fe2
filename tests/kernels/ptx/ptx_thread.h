// SPDX-License-Identifier: MIT
// PTX instructions implemented in C++, for kernels translated by translate.py. Generic and global
// addresses are host addresses; addresses in shared memory start at kSharedBase.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "kernels/cuda/machine.h"
#include "tests/kernels/support/host_machine.h"

namespace midscope::kernels::cuda::ptx {

// Not 0, so that a null pointer does not point into shared memory.
constexpr uint64_t kSharedBase = 1024;

// Throws as MIDSCOPE_BUG does, without compiling that macro into the hundred thousand callers.
[[noreturn]] void Refuse(const char* what);

// Reads a register as a value of type To, from its lowest bits.
template <class To, class From>
inline To As(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (sizeof(To) == sizeof(From)) {
    return std::bit_cast<To>(value);
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    static_assert(sizeof(To) < sizeof(From), "an operand is wider than its register");
    return static_cast<To>(value);
  } else {
    static_assert(sizeof(To) == 0, "a register of another size");
  }
}

// Writes a value to a register that may be wider; signed values are sign-extended.
template <class Register, class T>
inline void Put(Register& to, T value) {
  if constexpr (sizeof(Register) == sizeof(T)) {
    to = std::bit_cast<Register>(value);
  } else {
    static_assert(std::is_integral_v<T> && sizeof(T) < sizeof(Register));
    to = static_cast<Register>(static_cast<int64_t>(value));
  }
}

inline float FloatOfBits(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double DoubleOfBits(uint64_t bits) { return std::bit_cast<double>(bits); }

// The smaller value; if one of two floats is NaN, the other one.
template <class T>
inline T Smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmin(a, b);
  else
    return a < b ? a : b;
}
template <class T>
inline T Larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmax(a, b);
  else
    return a > b ? a : b;
}
// PTX: the sign of a with the magnitude of b.
template <class T>
inline T CopySign(T a, T b) {
  return std::copysign(b, a);
}
template <class T>
inline T Absolute(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a);
  else
    return a < 0 ? -a : a;
}
inline bool Not(bool a) { return !a; }
template <class T>
inline T Not(T a) {
  return static_cast<T>(~a);
}

template <class T>
inline T ShiftL(T a, uint32_t by, uint32_t bits) {
  return by >= bits ? T{0} : static_cast<T>(a << by);
}
template <class T>
inline T ShiftR(T a, uint32_t by, uint32_t bits) {
  return static_cast<T>(a >> (by >= bits ? bits - 1 : by) >> (by >= bits ? 1 : 0));
}

// Converts to the nearest integer in the range of the type; NaN gives 0.
template <class To, class From>
inline To Whole(From value) {
  if (std::isnan(value)) return 0;
  if (value >= static_cast<From>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  if (value <= static_cast<From>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

// For each bit, looks up the three input bits in a table of eight bits.
inline uint32_t Logic(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  return result;
}
// Selects four of the eight bytes of a (the lower ones) and b.
inline uint32_t Permute(uint32_t a, uint32_t b, uint32_t which) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t one = which >> (4 * i);
    auto byte = static_cast<uint32_t>(bytes >> (8 * (one & 7)) & 0xff);
    if (one & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
template <class T>
inline T InsertBits(T a, T b, uint32_t from, uint32_t count) {
  const T mask = static_cast<T>(((T{1} << (count & 63)) - 1) << from);
  return static_cast<T>((b & ~mask) | (a << from & mask));
}

// Checks that the address of values accessed together is a multiple of their size.
template <class T, int kCount>
inline T* Memory(uint64_t address) {
  if (address % (sizeof(T) * kCount) != 0) [[unlikely]]
    Refuse("an address that is not aligned");
  return reinterpret_cast<T*>(address);
}

// One thread of a block.
class PtxThread {
 public:
  PtxThread(HostMachine& machine, int64_t shared_bytes)
      : machine_(machine),
        shared_bytes_(static_cast<uint64_t>(shared_bytes)),
        shared_(machine.Shared<std::byte>(static_cast<int>(shared_bytes))) {
    machine.Each([&](int thread) { index_ = thread; });
  }

  int Index() const { return index_; }
  int Threads() const { return machine_.threads(); }
  BlockIndex Block() const { return machine_.block(); }
  BlockIndex Blocks() const { return machine_.blocks(); }
  void Barrier() const { machine_.Barrier(); }
  void AwaitEarlierWork() const { machine_.AwaitEarlierWork(); }

  template <class T, int kCount>
  T* Shared(uint64_t address) const {
    if (address % (sizeof(T) * kCount) != 0) [[unlikely]]
      Refuse("a shared address that is not aligned");
    return reinterpret_cast<T*>(SharedBytesAt(address, sizeof(T) * kCount));
  }

  uint32_t ShuffleXor(uint32_t value, uint32_t mask, uint32_t clamp, uint32_t members,
                      int line) const {
    if (clamp != 31 || members != ~0u) [[unlikely]]
      Refuse("a shuffle of part of a warp");
    return machine_.FromLane(value, static_cast<int>(mask), line);
  }
  template <class T>
  void Multiply(float* c, const uint32_t* a, const uint32_t* b) const {
    machine_.Multiply<T>([&](int) { return c; }, [&](int) { return a; }, [&](int) { return b; });
  }
  template <bool kTransposed>
  void LoadMatrices(uint32_t* of, uint64_t row) const {
    machine_.LoadFour<kTransposed>([&](int) { return of; },
                                   [&](int) { return SharedBytesAt(row, 16); });
  }
  void CopyAsync(uint64_t to, uint64_t from, uint32_t bytes) const {
    if (bytes != 0 && bytes != 16) [[unlikely]]
      Refuse("a copy of part of 16 bytes");
    machine_.CopyAsync(SharedBytesAt(to, 16), reinterpret_cast<const void*>(from), bytes == 16);
  }
  void AwaitCopies() const { machine_.AwaitCopies(); }

 private:
  std::byte* SharedBytesAt(uint64_t address, size_t bytes) const {
    if (address < kSharedBase || address - kSharedBase + bytes > shared_bytes_) [[unlikely]]
      Refuse("an address outside shared memory");
    return shared_ + (address - kSharedBase);
  }

  HostMachine& machine_;
  uint64_t shared_bytes_;
  std::byte* shared_;
  int index_ = 0;
};

struct NamedKernel {
  const char* name;
  void (*run)(PtxThread& thread, const std::byte* parameters);
};
std::span<const NamedKernel> NamedKernels();

}  // namespace midscope::kernels::cuda::ptx

// SPDX-License-Identifier: MIT
// The interface that CUDA kernel bodies use, so that the same source runs on a GPU and in tests
// without one. A kernel body is a template over a machine and describes one thread block:
//
//     template <class Machine>
//     MIDSCOPE_CUDA_BODY void Scale(Machine& machine, const ScaleArguments& a) {
//       auto* values = machine.template Shared<float>(64);
//       machine.Each([&](int thread) { values[thread] = a.in[thread]; });
//       machine.Barrier();
//       machine.Each([&](int thread) { a.out[thread] = values[63 - thread]; });
//     }
//
// On a GPU, a machine (GpuMachine) is one thread of a block: Each calls the function once, Barrier
// waits for the other threads. In tests, HostMachine (tests/kernels/support/host_machine.h) runs
// all threads of a block and switches between them at barriers and warp operations. Values that a
// thread keeps from one Each to the next must be in a PerThread. Warp operations are called outside
// Each; their arguments are functions that return a thread's operand.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/types.h"

#ifdef __CUDACC__
#define MIDSCOPE_CUDA_BODY __device__ __forceinline__
#define MIDSCOPE_CUDA_UNROLL _Pragma("unroll")
#define MIDSCOPE_CUDA_PRAGMA(text) _Pragma(#text)
#define MIDSCOPE_CUDA_UNROLL_BY(times) MIDSCOPE_CUDA_PRAGMA(unroll times)
#else
#define MIDSCOPE_CUDA_BODY inline
#define MIDSCOPE_CUDA_UNROLL
#define MIDSCOPE_CUDA_UNROLL_BY(times)
#endif

namespace midscope::kernels::cuda {

constexpr int kWarp = 32;
constexpr float kLog2E = 1.44269504f;

// Launch configuration: number of blocks along x, y, z; threads per block; bytes of shared memory
// per block.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
  int threads = kWarp;
  int64_t shared_bytes = 0;
};

struct BlockIndex {
  int64_t x = 0;
  int64_t y = 0;
  int64_t z = 0;
};

MIDSCOPE_CUDA_BODY float FloatOf(float value) { return value; }

MIDSCOPE_CUDA_BODY float FloatOf(BFloat16 value) {
#ifdef __CUDACC__
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
#else
  return ToFloat(value);
#endif
}

MIDSCOPE_CUDA_BODY float FloatOf(Float16 value) {
#ifdef __CUDACC__
  float number;
  asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(value.bits));
  return number;
#else
  return ToFloat(value);
#endif
}

// Returns one of two values of neighbouring columns, packed as for tensor cores: the first is in
// the low half. T: BFloat16 or Float16.
template <class T>
MIDSCOPE_CUDA_BODY float LowOf(uint32_t pair) {
  return FloatOf(T{static_cast<uint16_t>(pair)});
}
template <class T>
MIDSCOPE_CUDA_BODY float HighOf(uint32_t pair) {
  return FloatOf(T{static_cast<uint16_t>(pair >> 16)});
}

template <class T>
MIDSCOPE_CUDA_BODY uint32_t PackPair(float low, float high) {
  constexpr bool kBrain = std::is_same_v<T, BFloat16>;
#ifdef __CUDACC__
  uint32_t pair;
  if constexpr (kBrain) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
#else
  const auto bits = [](float value) -> uint32_t {
    return kBrain ? ToBFloat16(value).bits : ToFloat16(value).bits;
  };
  return bits(low) | bits(high) << 16;
#endif
}

// Returns 2^x with relative error 2^-22 on a GPU; 0 for x below -126.
MIDSCOPE_CUDA_BODY float PowerOfTwo(float x) {
#ifdef __CUDACC__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return x < -126.0f ? 0.0f : std::exp2(x);
#endif
}

// Returns row * stride + column. Offsets within a tile are computed in 32 bits, which GPUs multiply
// faster.
MIDSCOPE_CUDA_BODY int At(int row, int stride, int column = 0) { return row * stride + column; }

// 16 bytes that are read or written with one instruction.
struct alignas(16) Words {
  uint32_t word[4];
};

#ifdef __CUDACC__

struct StartsEarly {};

class GpuMachine {
 public:
  // A variable of type T for each thread.
  template <class T>
  struct PerThread {
    MIDSCOPE_CUDA_BODY explicit PerThread(const GpuMachine&) {}
    MIDSCOPE_CUDA_BODY T& operator[](int) { return value; }
    T value;
  };

  MIDSCOPE_CUDA_BODY explicit GpuMachine(std::byte* shared) : shared_(shared) {
    LetLaterWorkStart();
    AwaitEarlierWork();
  }
  // Constructor for a kernel body that calls AwaitEarlierWork by itself.
  MIDSCOPE_CUDA_BODY GpuMachine(std::byte* shared, StartsEarly) : shared_(shared) {
    LetLaterWorkStart();
  }

  // Waits until all work launched before this kernel is done; the kernel's blocks may start earlier
  // (start.cuh). Before this call, a kernel must not write, and may read only weights. Every kernel
  // must call it, so that the next one can rely on all earlier work.
  MIDSCOPE_CUDA_BODY void AwaitEarlierWork() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }

  // Prefetches the 128 bytes at an address into the L2 cache.
  MIDSCOPE_CUDA_BODY void Prefetch(const void* at) const {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
  }

  MIDSCOPE_CUDA_BODY BlockIndex block() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  MIDSCOPE_CUDA_BODY BlockIndex blocks() const { return {gridDim.x, gridDim.y, gridDim.z}; }
  MIDSCOPE_CUDA_BODY int threads() const { return static_cast<int>(blockDim.x); }

  // Allocates shared memory of the block for `count` values, after earlier allocations.
  template <class T>
  MIDSCOPE_CUDA_BODY T* Shared(int count) {
    T* values = reinterpret_cast<T*>(shared_);
    shared_ += (static_cast<size_t>(count) * sizeof(T) + 15) / 16 * 16;
    return values;
  }

  template <class F>
  MIDSCOPE_CUDA_BODY void Each(const F& work) const {
    work(static_cast<int>(threadIdx.x));
  }
  MIDSCOPE_CUDA_BODY void Barrier() const { __syncthreads(); }
  // Prevents the compiler from keeping values read from memory in registers beyond this call, such
  // as from one loop iteration to the next.
  MIDSCOPE_CUDA_BODY void ReadAgain() const { asm volatile("" ::: "memory"); }

  // GroupMax and GroupSum replace value(thread) by the maximum or the sum over the thread's group:
  // the 2^bits threads whose indices differ only in the lowest `bits` bits.
  template <int bits, class F>
  MIDSCOPE_CUDA_BODY void GroupMax(const F& value) const {
    float& mine = value(static_cast<int>(threadIdx.x));
    MIDSCOPE_CUDA_UNROLL for (int bit = 0; bit < bits; ++bit) {
      mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, 1 << bit));
    }
  }
  template <int bits, class F>
  MIDSCOPE_CUDA_BODY void GroupSum(const F& value) const {
    float& mine = value(static_cast<int>(threadIdx.x));
    MIDSCOPE_CUDA_UNROLL for (int bit = 0; bit < bits; ++bit) {
      mine += __shfl_xor_sync(0xffffffffu, mine, 1 << bit);
    }
  }

  // Computes c += a b for 16 x 16 and 16 x 8 values of T (BFloat16 or Float16), in the layout of
  // PTX's mma.m16n8k16. a(thread): uint32_t[4], b(thread): uint32_t[2], c(thread): float[4].
  template <class T, class C, class A, class B>
  MIDSCOPE_CUDA_BODY void Multiply(const C& c, const A& a, const B& b) const {
    const int thread = static_cast<int>(threadIdx.x);
    float* sum = c(thread);
    const uint32_t* left = a(thread);
    const uint32_t* right = b(thread);
    if constexpr (std::is_same_v<T, BFloat16>) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    }
  }

  // Loads four tiles of 8 x 8 values of 2 bytes from shared memory, as operands of Multiply.
  // row(thread): for thread t of a warp, the address of row t % 8 of tile t / 8: 8 values, 16-byte
  // aligned. of(thread): uint32_t[4], which receives for each tile values 2 (t % 4) and the next of
  // row t / 4; if kTransposed, of column t / 4.
  template <bool kTransposed, class Of, class Row>
  MIDSCOPE_CUDA_BODY void LoadFour(const Of& of, const Row& row) const {
    const int thread = static_cast<int>(threadIdx.x);
    uint32_t* pairs = of(thread);
    const uint32_t from = SharedAddress(row(thread));
    if constexpr (kTransposed) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                   : "r"(from)
                   : "memory");
    } else {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                   : "r"(from)
                   : "memory");
    }
  }

  // Starts copying 16 bytes to shared memory, or zeros if `there` is false. Both addresses are
  // multiples of 16; `from` must always be valid. AwaitCopies waits for the copies of the calling
  // thread; copies of other threads are complete after a following Barrier.
  MIDSCOPE_CUDA_BODY void CopyAsync(void* to, const void* from, bool there) const {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SharedAddress(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
  }
  MIDSCOPE_CUDA_BODY void AwaitCopies() const { asm volatile("cp.async.wait_all;" ::: "memory"); }

 private:
  MIDSCOPE_CUDA_BODY static uint32_t SharedAddress(const void* at) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(at));
  }
  // Lets thread blocks of the next kernel start as soon as parts of the GPU are free.
  MIDSCOPE_CUDA_BODY void LetLaterWorkStart() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  }

  std::byte* shared_;
};

#endif

}  // namespace midscope::kernels::cuda

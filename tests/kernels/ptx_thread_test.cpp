// SPDX-License-Identifier: MIT
// PTX instructions compared with NVIDIA's "PTX ISA" (exactly, except ex2). Tests of nvcc's kernels
// on the CPU are only as reliable as these.
#include "tests/kernels/ptx/ptx_thread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace midscope::kernels::cuda::ptx {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(PtxThread, RegistersHoldBits) {
  EXPECT_EQ(As<uint32_t>(1.0f), 0x3f800000u);
  EXPECT_EQ(As<int8_t>(uint32_t{0x1fe}), -2);
  uint32_t wide = 7;
  Put(wide, int8_t{-2});
  EXPECT_EQ(wide, 0xfffffffeu);
  Put(wide, uint8_t{254});
  EXPECT_EQ(wide, 254u);
  Put(wide, -0.0f);
  EXPECT_EQ(wide, 0x80000000u);
}

TEST(PtxThread, OfANumberAndNoneTheNumber) {
  EXPECT_EQ(Larger(kNaN, 2.0f), 2);
  EXPECT_EQ(Smaller(2.0f, kNaN), 2);
  EXPECT_EQ(Larger(-3, -4), -3);
  EXPECT_EQ(Smaller(uint32_t{3}, ~uint32_t{0}), 3u);
  EXPECT_EQ(CopySign(-1.0f, 5.0f), -5);
}

TEST(PtxThread, ShiftsByMoreThanThereAreBits) {
  EXPECT_EQ(ShiftL(uint32_t{1}, 31, 32), 0x80000000u);
  EXPECT_EQ(ShiftL(uint32_t{1}, 32, 32), 0u);
  EXPECT_EQ(ShiftR(uint32_t{1} << 31, 31, 32), 1u);
  EXPECT_EQ(ShiftR(uint32_t{1} << 31, 40, 32), 0u);
  EXPECT_EQ(ShiftR(int32_t{-8}, 1, 32), -4);
  EXPECT_EQ(ShiftR(int32_t{-8}, 40, 32), -1);
}

TEST(PtxThread, WholeNumbersStayWithinTheirType) {
  EXPECT_EQ(Whole<int32_t>(-2.0f), -2);
  EXPECT_EQ(Whole<int32_t>(3e10f), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(Whole<int32_t>(-3e10f), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Whole<uint32_t>(-1.0f), 0u);
  EXPECT_EQ(Whole<int32_t>(kNaN), 0);
}

TEST(PtxThread, LogicByTable) {
  // An operation's table is the result of its expression for these three values.
  constexpr uint32_t kA = 0xf0;
  constexpr uint32_t kB = 0xcc;
  constexpr uint32_t kC = 0xaa;
  const uint32_t a = 0x01234567;
  const uint32_t b = 0x89abcdef;
  const uint32_t c = 0x0ff00ff0;
  EXPECT_EQ(Logic(a, b, c, (kA & kB) | kC), (a & b) | c);
  EXPECT_EQ(Logic(a, b, c, kA ^ kB ^ kC), a ^ b ^ c);
  EXPECT_EQ(Logic(a, b, c, (kA & ~kB) & 0xff), a & ~b);
}

TEST(PtxThread, BytesArePermuted) {
  const uint32_t low = 0x83828180;
  const uint32_t high = 0x07060504;
  EXPECT_EQ(Permute(low, high, 0x3210), low);
  EXPECT_EQ(Permute(low, high, 0x7654), high);
  EXPECT_EQ(Permute(low, high, 0x0527), 0x80058207u);
  EXPECT_EQ(Permute(low, high, 0xc8c8), 0x00ff00ffu) << "with bit 3 the byte's sign";
}

TEST(PtxThread, BitsAreInserted) {
  EXPECT_EQ(InsertBits<uint32_t>(0xff, 0x12345678, 8, 4), 0x12345f78u);
  EXPECT_EQ(InsertBits<uint32_t>(0, ~0u, 4, 2), 0xffffffcfu);
  EXPECT_EQ(InsertBits<uint64_t>(5, 1, 32, 32), 0x500000001u);
}

// `work` is called with the PtxThread of every thread of a warp; the warp has 64 bytes of shared
// memory.
template <class Work>
void InAWarp(const Work& work) {
  constexpr int64_t kBytes = 64;
  RunOnHost({1, 1, 1, kWarp, kBytes}, false, [&](HostMachine& machine) {
    PtxThread thread(machine, kBytes);
    work(thread);
  });
}

TEST(PtxThread, AddressesAreHeldAgainstSharedMemory) {
  InAWarp([](PtxThread& thread) { *thread.Shared<float, 1>(kSharedBase + 60) = 1; });
  const auto of_shared = [](uint64_t address) {
    InAWarp([&](PtxThread& thread) { thread.Shared<float, 1>(address); });
  };
  EXPECT_THROW(of_shared(kSharedBase + 64), std::logic_error);
  EXPECT_THROW(of_shared(kSharedBase + 2), std::logic_error);
  EXPECT_THROW(of_shared(0), std::logic_error);
  EXPECT_THROW((Memory<float, 4>(1028)), std::logic_error);
}

TEST(PtxThread, AShuffleOfPartOfAWarpIsRefused) {
  InAWarp([](PtxThread& thread) {
    const auto mine = static_cast<uint32_t>(thread.Index());
    EXPECT_EQ(thread.ShuffleXor(mine, 3, 31, ~0u, 1), mine ^ 3);
  });
  EXPECT_THROW(InAWarp([](PtxThread& thread) { thread.ShuffleXor(0, 1, 31, 0xffff, 1); }),
               std::logic_error);
}

}  // namespace
}  // namespace midscope::kernels::cuda::ptx

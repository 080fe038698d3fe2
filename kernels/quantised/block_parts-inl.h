// SPDX-License-Identifier: MIT
// Code that the block formats share: 32 elements ("a part") as float32 vectors in registers.
// Compiled once for each instruction set (see rows-inl.h).
#if defined(MIDSCOPE_KERNELS_BLOCK_PARTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_BLOCK_PARTS_INL_H_
#undef MIDSCOPE_KERNELS_BLOCK_PARTS_INL_H_
#else
#define MIDSCOPE_KERNELS_BLOCK_PARTS_INL_H_
#endif

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "kernels/quantised/block_numbers.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// Vectors of fixed size, because arrays of vectors (weights, sums) require it.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
using VI = hn::Vec<hn::RebindToSigned<D>>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
constexpr int64_t kPartElements = 32;
constexpr int64_t kVectors = kPartElements / kLanes;

struct Part {
  V v[kVectors];
};

// Header type of formats whose blocks have no data common to all parts.
struct NoHeader {};

template <class... Formats>
struct FormatList {};

// Loads `Lanes` unsigned bytes and widens them.
HWY_INLINE VI LoadBytes(const uint8_t* from) {
  const hn::Rebind<uint8_t, D> d8;
  return hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(d8, from));
}

// Returns `with` in the lanes whose byte at `from` has `bit` set, `without` in the others.
HWY_INLINE VI IfBit(const uint8_t* from, int64_t bit, VI with, VI without) {
  const hn::RebindToSigned<D> di;
  const auto set = hn::And(LoadBytes(from), hn::Set(di, 1 << bit));
  return hn::IfThenElse(hn::Eq(set, hn::Zero(di)), without, with);
}

// Loads vector v (elements v * kLanes + lane) of 32 nibbles in 16 bytes; elements 0 to 15 are the
// low nibbles.
HWY_INLINE VI LoadNibbles(const uint8_t* from, int64_t v) {
  const hn::RebindToSigned<D> di;
  const auto bytes = LoadBytes(from + v * kLanes % 16);
  if (v * kLanes >= 16) return hn::ShiftRight<4>(bytes);
  return hn::And(bytes, hn::Set(di, 15));
}

// Loads vector v of 32 nibbles as LoadNibbles does, and looks up each nibble's value in a table.
HWY_INLINE V LoadByTable(const int8_t (&of_nibbles)[16], const uint8_t* from, int64_t v) {
#if HWY_TARGET == HWY_SCALAR
  const int byte = from[v % 16];
  const int8_t value = of_nibbles[v >= 16 ? byte >> 4 : byte & 15];
  const auto values = hn::Set(hn::Rebind<int8_t, D>(), value);
#else
  const hn::Full128<int8_t> table;
  const hn::Rebind<uint8_t, D> d8;
  const auto bytes = hn::LoadU(d8, from + v * kLanes % 16);
  const auto nibbles =
      v * kLanes >= 16 ? hn::ShiftRight<4>(bytes) : hn::And(bytes, hn::Set(d8, 15));
  const auto values = hn::TableLookupBytes(hn::LoadU(table, of_nibbles),
                                           hn::BitCast(hn::Rebind<int8_t, D>(), nibbles));
#endif
  return hn::ConvertTo(D(), hn::PromoteTo(hn::RebindToSigned<D>(), values));
}

// Returns the binary16 number at `from`.
HWY_INLINE float ReadHalf(const uint8_t* from) {
  uint16_t half;
  std::memcpy(&half, from, sizeof(half));
  return ToFloat(Float16{half});
}

// Converts binary16 numbers, one per lane, to float32.
HWY_INLINE V HalvesToFloats(hn::Vec<hn::Rebind<uint16_t, D>> halves) {
  const D d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), halves));
#else
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::PromoteTo(d32, halves);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7fff)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000)));
  const auto scale = hn::BitCast(d, hn::Set(d32, 0x77800000u));
  const auto lifted = hn::BitCast(d32, hn::Mul(hn::BitCast(d, magnitude), scale));
  const auto special = hn::Gt(magnitude, hn::Set(d32, 0x0f7fffffu));
  const auto infinite = hn::Or(magnitude, hn::Set(d32, 0x7f800000u));
  return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(special, infinite, lifted)));
#endif
}

// Returns the binary16 number at `from` (a block's scale) in every lane.
HWY_INLINE V BroadcastHalf(const uint8_t* from) {
  uint16_t half;
  std::memcpy(&half, from, sizeof(half));
  return HalvesToFloats(hn::Set(hn::Rebind<uint16_t, D>(), half));
}

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_BLOCK_PARTS_INL_H_

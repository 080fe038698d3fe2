// SPDX-License-Identifier: MIT
#include "core/intervention/head_order.h"

#include <numeric>
#include <random>
#include <utility>

namespace midscope {
namespace {

// Steele, Lea and Flood's SplitMix64: neighbouring seeds and layers come out unlike one another.
uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

// The standard fixes the engine's numbers, but no shuffle.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count) {
  std::mt19937_64 engine(Mix(Mix(seed) + static_cast<uint64_t>(layer)));
  std::vector<int64_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  for (size_t last = count; last > 1; --last) std::swap(items[last - 1], items[engine() % last]);
  return items;
}

}  // namespace midscope

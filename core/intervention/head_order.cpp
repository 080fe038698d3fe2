// SPDX-License-Identifier: MIT
#include "core/intervention/head_order.h"

#include <numeric>
#include <random>
#include <utility>

#include "core/base/random.h"

namespace midscope {

// The standard specifies the engine's numbers, but not the result of std::shuffle. SplitMix64 first
// mixes seed and layer, so that neighbouring ones give unrelated orders.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count) {
  std::mt19937_64 engine(SplitMix64(SplitMix64(seed).Next() + static_cast<uint64_t>(layer)).Next());
  std::vector<int64_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  for (size_t last = count; last > 1; --last) std::swap(items[last - 1], items[engine() % last]);
  return items;
}

}  // namespace midscope

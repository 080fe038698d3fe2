// SPDX-License-Identifier: MIT
#include "core/intervention/head_order.h"

#include <numeric>
#include <random>
#include <utility>

#include "core/base/random.h"

namespace midscope {

// The standard fixes the engine's numbers, but no shuffle. SplitMix64 before it: neighbouring seeds
// and layers come out unlike one another.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count) {
  std::mt19937_64 engine(SplitMix64(SplitMix64(seed).Next() + static_cast<uint64_t>(layer)).Next());
  std::vector<int64_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  for (size_t last = count; last > 1; --last) std::swap(items[last - 1], items[engine() % last]);
  return items;
}

}  // namespace midscope

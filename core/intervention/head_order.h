// SPDX-License-Identifier: MIT
// Draws the random order in which heads get their ratios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace midscope {

// Returns a permutation of 0 .. count - 1 that depends only on (seed, layer), not on the machine.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count);

}  // namespace midscope

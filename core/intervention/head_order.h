// SPDX-License-Identifier: MIT
// The random order in which heads get their ratios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace midscope {

// A permutation of 0 .. count - 1, the same for (seed, layer) on every machine.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count);

}  // namespace midscope

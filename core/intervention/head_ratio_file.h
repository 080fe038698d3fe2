// SPDX-License-Identifier: MIT
// Reads a position ratio for every head from a file written by a user or by `midscope export`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervention/intervention.h"

namespace midscope {

// Returns a random permutation of 0 .. count - 1, by which ratios are assigned to the heads of a
// layer. It depends only on (seed, layer), not on the machine.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count);

// The smallest and the largest ratio by which a position may be divided.
inline constexpr double kSmallestRatio = 0.01;
inline constexpr double kLargestRatio = 1000;

// Reads JSON: lists of ratios [[...], ...] as [layer][head], or the array "position_ratio" of
// `midscope export --format json`. Or CSV: rows layer,head,ratio with or without a header, or the
// rows of position_ratio of `midscope export --format csv`. Every head of every layer must have
// exactly one ratio, from kSmallestRatio to kLargestRatio. Throws Error that names the file and the
// row.
HeadRatioTable ReadHeadRatios(const std::string& file);

// Parses head ratios from `text`, the contents of `file` (formats: ReadHeadRatios).
HeadRatioTable ParseHeadRatios(const std::string& file, std::string_view text);

// Returns the table with each layer's ratios shuffled among its heads; `seed` determines the order.
HeadRatioTable ShuffledRatios(HeadRatioTable table, uint64_t seed);

// Returns 16 hexadecimal digits that identify the number of heads and the ratios (not the file's
// name).
std::string RatioDigest(const HeadRatioTable& table);

}  // namespace midscope

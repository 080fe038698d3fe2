// SPDX-License-Identifier: MIT
// A position ratio for every head, from a file as a user or `midscope export` writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/intervention/intervention.h"

namespace midscope {

// The range of ratios by which a position may be divided.
inline constexpr double kSmallestRatio = 0.01;
inline constexpr double kLargestRatio = 1000;

// JSON: lists of ratios [[...], ...] as [layer][head], or what `midscope export --format json`
// writes, of which the array "position_ratio" is taken. CSV: rows layer,head,ratio under a header
// or none, or what `midscope export --format csv` writes, of which the rows of position_ratio are
// taken. Every head of every layer must have a ratio from kSmallestRatio to kLargestRatio, once.
// Throws Error that names the file and the row.
HeadRatioTable ReadHeadRatios(const std::string& file);

// As above, from the file's contents.
HeadRatioTable ParseHeadRatios(const std::string& file, std::string_view text);

// The table with the ratios of each layer given to its heads in a random order by `seed`.
HeadRatioTable ShuffledRatios(HeadRatioTable table, uint64_t seed);

// 16 hexadecimal digits of the heads and the ratios (not of the file's name).
std::string RatioDigest(const HeadRatioTable& table);

}  // namespace midscope

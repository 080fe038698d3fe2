// SPDX-License-Identifier: MIT
// Reads the position ids of a prompt's tokens from a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

inline constexpr double kLargestPositionId = 1e9;

// Reads numbers from 0 to kLargestPositionId, one per prompt token, in any order: as text separated
// by white space or commas, or as JSON: a list of numbers, or one sample of `midscope positions
// --json` ({"positions": [[...]]}). Throws Error (usage) that names the file and, if a number is
// wrong, which one.
std::vector<double> ReadPositionIds(const std::string& file);

// Parses position ids from `text`, the contents of `file` (formats: ReadPositionIds).
std::vector<double> ParsePositionIds(const std::string& file, std::string_view text);

// Returns 16 hexadecimal digits that identify the list of position ids.
std::string PositionIdDigest(const std::vector<double>& ids);

}  // namespace midscope

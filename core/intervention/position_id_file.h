// SPDX-License-Identifier: MIT
// Position ids of a prompt's tokens, from a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

inline constexpr double kLargestPositionId = 1e9;

// Numbers from 0 to kLargestPositionId, one per prompt token, in any order: text with white space
// or commas between, or JSON: a list of numbers, or one sample of `midscope positions --json`
// ({"positions": [[...]]}). Throws Error (usage) that names the file, and the number where it is
// one that is wrong.
std::vector<double> ReadPositionIds(const std::string& file);

// As above, from the file's contents.
std::vector<double> ParsePositionIds(const std::string& file, std::string_view text);

// 16 hexadecimal digits of the numbers.
std::string PositionIdDigest(const std::vector<double>& ids);

}  // namespace midscope

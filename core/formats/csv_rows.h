// SPDX-License-Identifier: MIT
// Reads small CSV files (RFC 4180). Internal to data/.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// Returns all rows; a quoted field may contain commas, line ends and doubled quotes; empty lines
// are ignored. Throws Error (failure) that names the file and the line: the file can't be read,
// exceeds 64 MiB or is not UTF-8, a quote is not closed or is inside a plain field.
std::vector<std::vector<std::string>> ReadCsv(const std::string& path);

// The same for a text in memory; errors name `name`.
std::vector<std::vector<std::string>> ParseCsv(const std::string& name, const std::string& text);

}  // namespace midscope

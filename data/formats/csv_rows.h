// SPDX-License-Identifier: MIT
// Small CSV files as RFC 4180 has them. Internal to data/.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// All rows; a field in quotes may hold commas, line ends and doubled quotes; empty lines are no
// rows. Throws Error (failure) that names the file, and the line of what is wrong: the file can't
// be read, is beyond 64 MiB or not UTF-8, a quote is not closed or stands inside a plain field.
std::vector<std::vector<std::string>> ReadCsv(const std::string& path);

// The same of a text that is there already; errors name `name`.
std::vector<std::vector<std::string>> ParseCsv(const std::string& name, const std::string& text);

}  // namespace midscope

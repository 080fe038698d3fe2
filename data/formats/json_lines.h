// SPDX-License-Identifier: MIT
// Reads files with one JSON object or one short text per line, plain or compressed by gzip.
// Internal to data/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json_fields.h"

namespace midscope {

// Maximum length of a line, in bytes; a longer one is an error. Known data sets have lines of up to
// a tenth of it, and a file without line ends must not fill the memory.
inline constexpr int64_t kLongestJsonLine = int64_t{64} << 20;

// Calls `item` for each line that is not blank. Throws Error (failure) that names the file, and the
// line if one is at fault: the file can't be read, its gzip data are damaged or exceed the growth
// limit, a line is too long, is not UTF-8 or is not a JSON object, or all lines are blank.
// fields.thing() is "FILE, line 3".
void ForEachJsonLine(const std::string& path,
                     const std::function<void(const JsonFields& fields)>& item,
                     int64_t longest_line = kLongestJsonLine);

// As above, for lines of plain text, without line ends and byte order mark; a file without lines is
// not an error. `thing` is "FILE, line 3".
void ForEachTextLine(
    const std::string& path,
    const std::function<void(const std::string& thing, const std::string& line)>& item,
    int64_t longest_line = kLongestJsonLine);

// Returns the field as a list of strings. Throws Error if it is missing or has another type.
std::vector<std::string> TextList(const JsonFields& fields, const std::string& key);

// Returns the field as an integer from `minimum` to `maximum`; `otherwise` if it is absent or null.
int64_t Integer(const JsonFields& fields, const std::string& key, int64_t minimum, int64_t maximum,
                int64_t otherwise);

}  // namespace midscope

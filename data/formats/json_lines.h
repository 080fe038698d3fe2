// SPDX-License-Identifier: MIT
// Reads files with one JSON object, or one short text, per line, plain or compressed by gzip, line
// by line. Internal to data/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json_fields.h"

namespace midscope {

// A longer line is an error: known data sets have lines of a tenth of it, and a file without line
// ends must not fill the memory.
inline constexpr int64_t kLongestJsonLine = int64_t{64} << 20;

// Calls `item` for each line that is not blank. Throws Error (failure) that names the file, and the
// line if there is one: the file can't be read, its gzip data are damaged or exceed the growth
// limit, a line is too long, not UTF-8, not a JSON object; and if there is no item. fields.thing()
// is "FILE, line 3".
void ForEachJsonLine(const std::string& path,
                     const std::function<void(const JsonFields& fields)>& item,
                     int64_t longest_line = kLongestJsonLine);

// As above, for lines of plain text, without line ends and byte order mark; a file without lines is
// not an error. thing: "FILE, line 3".
void ForEachTextLine(
    const std::string& path,
    const std::function<void(const std::string& thing, const std::string& line)>& item,
    int64_t longest_line = kLongestJsonLine);

// The field as a list of texts; Error if it is missing or something else.
std::vector<std::string> TextList(const JsonFields& fields, const std::string& key);

// The field as an integer from minimum to maximum, `otherwise` if it is absent or null.
int64_t Integer(const JsonFields& fields, const std::string& key, int64_t minimum, int64_t maximum,
                int64_t otherwise);

}  // namespace midscope

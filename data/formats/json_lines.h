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

// Maximum length of a line, in bytes; a longer line is an error, so that a file without line ends
// cannot fill the memory. The longest lines of known data sets have a tenth of this length.
inline constexpr int64_t kLongestJsonLine = int64_t{64} << 20;

// Calls `item` with the fields of each line that is not blank; thing() of the fields returns "FILE,
// line 3". Throws Error (failure), which names the file and, where possible, the line, if the file
// can't be read, its gzip data are damaged or unpack to implausibly many bytes, a line is too long,
// is not UTF-8 or is not a JSON object, or all lines are blank.
void ForEachJsonLine(const std::string& path,
                     const std::function<void(const JsonFields& fields)>& item,
                     int64_t longest_line = kLongestJsonLine);

// Calls a function for each line of a text file, plain or gzip, without the line end and a byte
// order mark. `thing` is "FILE, line 3", for errors. A file without lines is not an error.
void ForEachTextLine(
    const std::string& path,
    const std::function<void(const std::string& thing, const std::string& line)>& item,
    int64_t longest_line = kLongestJsonLine);

// Returns the field `key` as a list of strings. Throws Error if it is missing or has another type.
std::vector<std::string> TextList(const JsonFields& fields, const std::string& key);

// Returns field `key`, an integer from `minimum` to `maximum`; `otherwise` if it is absent or null.
int64_t Integer(const JsonFields& fields, const std::string& key, int64_t minimum, int64_t maximum,
                int64_t otherwise);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The parser of GgufFile. It has no file access, so that damaged headers can be tested in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/formats/gguf_file.h"

namespace midscope {

// Reads a T at `position`, which may be unaligned.
template <typename T>
T LoadNumber(const std::byte* position) {
  T value;
  std::memcpy(&value, position, sizeof value);
  return value;
}

struct GgufHeader {
  uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors;
};

// Parses the header of a GGUF file. The result points into `file`. Throws Error for the faults
// listed at GgufFile's constructor; its text begins with `name`.
GgufHeader ParseGgufHeader(std::span<const std::byte> file, const std::string& name);

// Returns the bytes of one element in the file; 0 for strings, arrays and numbers outside the
// enumeration.
int64_t GgufElementBytes(GgufType type);

// Reads the string (length as uint64, then bytes) at *position and advances *position. The bounds
// must have been checked.
std::string_view ReadGgufString(const std::byte** position);

}  // namespace midscope

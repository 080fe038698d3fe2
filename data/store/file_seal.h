// SPDX-License-Identifier: MIT
// A checksum after the end of an HDF5 file. HDF5 1.10 has none for variable-length text and crashes
// on some damaged files; other readers ignore bytes after the end that the file states. A program
// that changes the file truncates the seal; the file is then read without. Internal to data/.
#pragma once

#include <cstdint>
#include <string>

namespace midscope {

// Appends the seal: 8 bytes "MIDSSEAL" and the XXH3-128 (canonical form) of all bytes before them.
// Returns 0 or an errno.
int SealFile(int descriptor);

// Larger files are not checked, as that would take seconds.
inline constexpr int64_t kLargestSealChecked = int64_t{1} << 30;

enum class SealState {
  kIntact,     // the bytes match the seal
  kBroken,     // they do not match
  kNone,       // another program has written or changed the file
  kUnchecked,  // the seal exists, and the file exceeds the limit
};

// `largest`: maximum size that is checked. kNone if the file can't be read.
SealState CheckSeal(const std::string& path, int64_t largest = kLargestSealChecked);

// The checksum at the file's end, as 32 hexadecimal digits; "" if it has no seal.
std::string ReadSeal(const std::string& path);

}  // namespace midscope

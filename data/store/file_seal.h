// SPDX-License-Identifier: MIT
// A seal: a checksum appended to an HDF5 file. HDF5 1.10 has no checksum for variable-length text
// and crashes on some damaged files; other readers ignore bytes after the end that the file states.
// If another program changes the file, HDF5 truncates the seal; Midscope also reads files without a
// seal. Internal to data/.
#pragma once

#include <cstdint>
#include <string>

namespace midscope {

// Appends the seal to an open file: 8 bytes "MIDSSEAL", then the XXH3-128 hash (canonical form) of
// all bytes before the seal. Returns 0, or an errno on failure.
int SealFile(int descriptor);

// Maximum size, in bytes, of files whose checksum is verified; for larger files it takes seconds.
inline constexpr int64_t kLargestSealChecked = int64_t{1} << 30;

enum class SealState {
  kIntact,     // the bytes match the seal
  kBroken,     // they do not match
  kNone,       // no seal: another program has written or changed the file
  kUnchecked,  // there is a seal, but the file exceeds `largest`
};

// Compares a file with its seal. `largest`: maximum size, in bytes, of a file whose checksum is
// computed. Returns kNone if the file can't be read.
SealState CheckSeal(const std::string& path, int64_t largest = kLargestSealChecked);

// Returns the checksum in the file's seal, as 32 hexadecimal digits; "" if it has no seal.
std::string ReadSeal(const std::string& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// A checksum after the end of an HDF5 file. HDF5 1.10 has none for variable-length text and crashes
// on some damaged files; other readers never look behind the end that the file itself states. A
// program that changes the file cuts the seal off, and it is read without. Internal to data/.
#pragma once

#include <cstdint>
#include <string>

namespace midscope {

// Appends the seal: 8 bytes "MIDSSEAL" and the XXH3-128 (canonical form) of all bytes before them.
// Returns 0 or an errno.
int SealFile(int descriptor);

// More bytes are not looked through, as that would take seconds before the first picture.
inline constexpr int64_t kLargestSealChecked = int64_t{1} << 30;

enum class SealState {
  kIntact,     // the bytes agree with the seal
  kBroken,     // they do not
  kNone,       // another program has changed the file, or has written it
  kUnchecked,  // a seal is there, and the file is larger than what is looked through
};

// `largest`: bytes that are looked through at most. kNone where the file can't be read.
SealState CheckSeal(const std::string& path, int64_t largest = kLargestSealChecked);

// The checksum that the file states at its end, as 32 hexadecimal digits; "" where it has no seal.
std::string ReadSeal(const std::string& path);

}  // namespace midscope

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

// False where the file has a seal that its bytes do not agree with. Files over kLargestSealChecked
// are taken as they are.
bool SealHolds(const std::string& path);

// The checksum that the file states at its end, as 32 hexadecimal digits; "" where it has no seal.
std::string ReadSeal(const std::string& path);

}  // namespace midscope

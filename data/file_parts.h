// SPDX-License-Identifier: MIT
// The files that a virtual file (virtual_layout.h) takes samples from: which they are, and whether
// they are still what they were. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

struct FilePart {
  std::string file;  // relative to the folder of the file that it is a part of
  std::string seal;  // its checksum (file_seal.h)
};

// `path` as a part of `whole`. Throws Error (failure) where it has no checksum.
FilePart MakeFilePart(const std::string& path, const std::string& whole);

// Where a part lies.
std::string PartPath(const std::string& whole, const FilePart& part);

// Bytes of all parts together. Throws Error (failure) that names the part that is missing, damaged
// or another file than when `whole` was written.
int64_t CheckParts(const std::string& whole, const std::vector<FilePart>& parts);

// Whether all of them are still there. Throws Error (failure) that names the one that is not.
void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts);

}  // namespace midscope

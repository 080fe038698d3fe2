// SPDX-License-Identifier: MIT
// The files that a virtual file (virtual_layout.h) takes samples from: which they are, and whether
// they are still what they were. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

struct FilePart {
  std::string file;  // its name, in the folder of the file that it is a part of
  std::string seal;  // its checksum (file_seal.h)
};

// `path` as a part of `whole`. Throws Error: (usage) where it lies in another folder or is a link,
// (failure) where it has no checksum.
FilePart MakeFilePart(const std::string& path, const std::string& whole);

// Where a file lies, if its name is a link: its parts are looked for there.
std::string LocationOf(const std::string& path);

// Where a part lies.
std::string PartPath(const std::string& whole, const FilePart& part);

// Bytes of all parts together. Throws as CheckPartsAreThere does.
int64_t PartBytes(const std::string& whole, const std::vector<FilePart>& parts);

// Whether the parts are few enough bytes for their checksums to be computed when they are opened.
bool PartsAreChecked(const std::string& whole, const std::vector<FilePart>& parts);

// Throws Error (failure) that names the part that is missing, damaged or another file than when
// `whole` was written.
void CheckParts(const std::string& whole, const std::vector<FilePart>& parts);

// Whether all of them are still there, in the folder of `whole` and no links. Throws Error
// (failure) that names the one that is not.
void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The files that a virtual file (virtual_layout.h) takes samples from, and checks that they are
// unchanged. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

struct FilePart {
  std::string file;  // its name, in the folder of the file that it is a part of
  std::string seal;  // its checksum (file_seal.h)
};

// `path` as a part of `whole`. Throws Error: (usage) if it is in another folder or is a link,
// (failure) if it has no checksum.
FilePart MakeFilePart(const std::string& path, const std::string& whole);

// The file's own location, if its name is a link: its parts are searched there.
std::string LocationOf(const std::string& path);

// The path of a part.
std::string PartPath(const std::string& whole, const FilePart& part);

// Bytes of all parts together. Throws in the same cases as CheckPartsAreThere.
int64_t PartBytes(const std::string& whole, const std::vector<FilePart>& parts);

// Whether the parts are small enough to compute their checksums when they are opened.
bool PartsAreChecked(const std::string& whole, const std::vector<FilePart>& parts);

// Throws Error (failure) that names the part that is missing, damaged or not the one that `whole`
// was written with.
void CheckParts(const std::string& whole, const std::vector<FilePart>& parts);

// Checks that all of them exist in the folder of `whole` and are not links. Throws Error (failure)
// that names the one that fails.
void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts);

}  // namespace midscope

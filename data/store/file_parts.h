// SPDX-License-Identifier: MIT
// The parts of a virtual file: the files that contain its samples (virtual_layout.h). Checks that
// they are unchanged. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

struct FilePart {
  std::string file;  // its name; it is in the same folder as the virtual file
  std::string seal;  // its checksum (file_seal.h)
};

// Describes `path` as a part of the virtual file `whole`. Throws Error: (usage) if it is in another
// folder or is a symbolic link, (failure) if it has no checksum.
FilePart MakeFilePart(const std::string& path, const std::string& whole);

// Returns the target if `path` is a symbolic link, otherwise `path`: a file's parts are next to the
// target.
std::string LocationOf(const std::string& path);

// Returns the path of a part.
std::string PartPath(const std::string& whole, const FilePart& part);

// Returns the total size of all parts, in bytes. Throws in the same cases as CheckPartsAreThere.
int64_t PartBytes(const std::string& whole, const std::vector<FilePart>& parts);

// Whether the parts are small enough for their checksums to be computed on opening.
bool PartsAreChecked(const std::string& whole, const std::vector<FilePart>& parts);

// Throws Error (failure) if a part is missing, damaged or not the one that `whole` was written
// with; the error names it.
void CheckParts(const std::string& whole, const std::vector<FilePart>& parts);

// Checks that all parts exist in the folder of `whole` and are not symbolic links. Throws Error
// (failure) that names the one that fails.
void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The parts of a virtual file: the HDF5 files that its virtual data sets refer to
// (virtual_layout.h). Checks that the parts are unchanged. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

struct FilePart {
  std::string file;  // name of the file, which is in the folder of the virtual file
  std::string seal;  // checksum of the file (file_seal.h)
};

// Describes `path` as a part of the virtual file `whole`. Throws Error: (usage) if `path` is in
// another folder or is a symbolic link, (failure) if it has no checksum.
FilePart MakeFilePart(const std::string& path, const std::string& whole);

// Returns the target if `path` is a symbolic link, otherwise `path`. The parts of a virtual file
// are in the folder of this target.
std::string LocationOf(const std::string& path);

// Returns the path of a part of the virtual file `whole`.
std::string PartPath(const std::string& whole, const FilePart& part);

// Returns the total size of all parts, in bytes. Throws Error (failure) if a part is missing.
int64_t PartBytes(const std::string& whole, const std::vector<FilePart>& parts);

// Whether the parts are small enough that their checksums are verified when the file is opened.
bool PartsAreChecked(const std::string& whole, const std::vector<FilePart>& parts);

// Throws Error (failure), which names the part, if a part is missing, is damaged, or is not the
// file that existed when `whole` was written.
void CheckParts(const std::string& whole, const std::vector<FilePart>& parts);

// Checks that all parts exist in the folder of `whole` and are not symbolic links. Otherwise throws
// Error (failure), which names the part.
void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts);

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "data/file_parts.h"

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "data/file_seal.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJoinAgain =
    "Put it back where it was, or join the parts again (midscope merge --virtual)";

}  // namespace

FilePart MakeFilePart(const std::string& path, const std::string& whole) {
  const fs::path folder = fs::path(whole).has_parent_path() ? fs::path(whole).parent_path() : ".";
  FilePart part{fs::relative(path, folder).string(), ReadSeal(path)};
  if (part.seal.empty()) {
    throw Failure(path, "has no checksum at its end: another program has changed it",
                  "Join without --virtual, which copies");
  }
  return part;
}

std::string PartPath(const std::string& whole, const FilePart& part) {
  return (fs::path(whole).parent_path() / part.file).string();
}

int64_t CheckParts(const std::string& whole, const std::vector<FilePart>& parts) {
  CheckPartsAreThere(whole, parts);
  int64_t bytes = 0;
  for (const FilePart& part : parts) {
    const std::string path = PartPath(whole, part);
    if (ReadSeal(path) != part.seal) {
      throw Failure(path, "is not the file that " + whole + " was joined from: it has changed",
                    kJoinAgain);
    }
    bytes += static_cast<int64_t>(fs::file_size(path));
  }
  for (const FilePart& part : parts) {
    const std::string path = PartPath(whole, part);
    if (bytes <= kLargestSealChecked && !SealHolds(path)) {
      throw Failure(path, "is damaged: its bytes do not agree with its checksum", "Copy it again");
    }
  }
  return bytes;
}

void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts) {
  if (parts.empty()) return;
  // HDF5 would look there first, and take what it finds.
  const char* prefix = std::getenv("HDF5_VDS_PREFIX");
  if (prefix && *prefix) {
    throw Failure(whole, "its parts can't be told: HDF5_VDS_PREFIX names another place for them",
                  "Unset HDF5_VDS_PREFIX");
  }
  for (const FilePart& part : parts) {
    std::error_code ignored;
    if (fs::is_regular_file(PartPath(whole, part), ignored)) continue;
    throw Failure(PartPath(whole, part), "is missing: " + whole + " takes samples from it",
                  kJoinAgain);
  }
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "data/store/file_parts.h"

#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "data/store/file_seal.h"
#include "data/store/frame_check.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJoinAgain =
    "Put it back where it was, or join the parts again (midscope merge --virtual)";

// Throws Error (failure) if the part's name leads to another folder than that of `whole`: a foreign
// file could otherwise make Midscope read any path.
void CheckFolder(const std::string& whole, const FilePart& part) {
  if (IsStorableName(part.file)) return;
  throw Failure(whole, "takes samples from " + Quote(part.file) + ", which is not in its folder",
                "Put the parts beside it and join them again (midscope merge --virtual)");
}

}  // namespace

FilePart MakeFilePart(const std::string& path, const std::string& whole) {
  const fs::path file(path);
  const auto folder_of = [](const fs::path& of) {
    return of.has_parent_path() ? of.parent_path() : fs::path(".");
  };
  std::error_code ignored;
  if (!fs::equivalent(folder_of(file), folder_of(whole), ignored) || fs::is_symlink(file)) {
    throw UsageError(path, "it is not in the folder of " + whole + ", or is a link",
                     "Put them into one folder, or join without --virtual, which copies");
  }
  FilePart part{file.filename().string(), ReadSeal(path)};
  if (part.seal.empty()) {
    throw Failure(path, "has no checksum at its end: another program has changed it",
                  "Join without --virtual, which copies");
  }
  return part;
}

std::string LocationOf(const std::string& path) {
  return fs::is_symlink(path) ? fs::canonical(path).string() : path;
}

std::string PartPath(const std::string& whole, const FilePart& part) {
  return (fs::path(whole).parent_path() / part.file).string();
}

int64_t PartBytes(const std::string& whole, const std::vector<FilePart>& parts) {
  CheckPartsAreThere(whole, parts);
  int64_t bytes = 0;
  for (const FilePart& part : parts) {
    std::error_code failed;
    const auto size = fs::file_size(PartPath(whole, part), failed);
    if (failed) throw Failure(PartPath(whole, part), "cannot be read: " + failed.message());
    bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

bool PartsAreChecked(const std::string& whole, const std::vector<FilePart>& parts) {
  return PartBytes(whole, parts) <= kLargestSealChecked;
}

void CheckParts(const std::string& whole, const std::vector<FilePart>& parts) {
  CheckPartsAreThere(whole, parts);
  for (const FilePart& part : parts) {
    const std::string path = PartPath(whole, part);
    if (ReadSeal(path) == part.seal && !part.seal.empty()) continue;
    throw Failure(path, "is not the file that " + whole + " was joined from: it has changed",
                  kJoinAgain);
  }
  if (!PartsAreChecked(whole, parts)) return;
  for (const FilePart& part : parts) {
    const std::string path = PartPath(whole, part);
    if (CheckSeal(path) != SealState::kIntact) {
      throw Failure(path, "is damaged: its bytes do not agree with its checksum", "Copy it again");
    }
  }
}

void CheckPartsAreThere(const std::string& whole, const std::vector<FilePart>& parts) {
  if (parts.empty()) return;
  // Rejects HDF5_VDS_PREFIX: HDF5 would look for the parts in that folder first.
  const char* prefix = std::getenv("HDF5_VDS_PREFIX");
  if (prefix && *prefix) {
    throw Failure(whole,
                  "its parts cannot be located: HDF5_VDS_PREFIX sets another folder for them",
                  "Unset HDF5_VDS_PREFIX");
  }
  for (const FilePart& part : parts) {
    CheckFolder(whole, part);
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(PartPath(whole, part), ignored);
    if (fs::is_regular_file(status)) continue;
    if (fs::is_symlink(status)) {
      throw Failure(PartPath(whole, part), "is a link, where " + whole + " has a part", kJoinAgain);
    }
    throw Failure(PartPath(whole, part), "is missing: " + whole + " takes samples from it",
                  kJoinAgain);
  }
}

}  // namespace midscope

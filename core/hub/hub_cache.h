// SPDX-License-Identifier: MIT
// Writes to the Hugging Face cache in huggingface_hub's layout, so that the two programs can use
// each other's files: models--org--name (data sets: datasets--org--name)/blobs/DIGEST,
// snapshots/COMMIT/NAME -> ../../blobs/DIGEST, refs/REVISION, and lock files. Files are renamed
// when they are finished, so a file with its final name is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/file_access.h"
#include "core/base/job.h"
#include "core/hub/hub_listing.h"

namespace midscope {

// The cache folder of one model or data set.
class HubCacheModel {
 public:
  HubCacheModel(std::filesystem::path cache, HubKind kind, const std::string& model);

  std::filesystem::path Blob(const HubFile& file) const { return folder_ / "blobs" / file.hash; }
  // Returns the path at which the fetched part of an incomplete file is stored.
  std::filesystem::path Part(const HubFile& file) const;
  std::filesystem::path Lock(const HubFile& file) const;
  std::filesystem::path Snapshot(const std::string& commit) const;
  // Returns how many bytes must still be fetched: 0 if the blob exists with its full size.
  int64_t MissingBytes(const HubFile& file) const;

  // Creates the link to the file's blob in the snapshot folder of `commit`. Throws Error.
  void Link(const HubFile& file, const std::string& commit) const;
  // Writes refs/REVISION, so that `revision` refers to this commit. Throws Error.
  void WriteRef(const std::string& revision, const std::string& commit) const;
  // Throws Error if the disk has less free space than `bytes` plus a reserve.
  void CheckSpace(int64_t bytes) const;

 private:
  std::filesystem::path cache_;
  std::string name_;  // models--org--name
  std::filesystem::path folder_;
};

// A lock that one process at a time can hold (flock); released by the destructor.
class FileLock {
 public:
  // Waits for other holders. Throws Cancelled, or Error if the lock cannot be created.
  FileLock(const std::filesystem::path& path, const std::string& thing, const JobContext& context);

 private:
  FileDescriptor descriptor_;
};

// Whether the file at `path` has the size and the digest of `file`. Throws Cancelled.
bool HasContent(const std::filesystem::path& path, const HubFile& file, const JobContext& context);

// A partly downloaded file, to which several runs may append. Every member throws Error.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  int64_t size() const { return size_; }
  void Append(std::span<const std::byte> bytes);
  void Clear();
  // Adds the whole content of the file to `hash`.
  void AddTo(ContentHash* hash, const JobContext& context) const;
  // Flushes the file to the disk and renames it; the object must not be used afterwards.
  void MoveTo(const std::filesystem::path& path);

 private:
  [[noreturn]] void Fail(const std::string& what) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Writing into the Hugging Face cache as huggingface_hub lays it out, so that both use each other's
// files: models--org--name/blobs/DIGEST, snapshots/COMMIT/NAME -> ../../blobs/DIGEST,
// refs/REVISION, and locks beside. What has its name is whole: files come to their names by rename.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/job.h"
#include "core/hub/hub_listing.h"

namespace midscope {

// The folder of one model.
class HubCacheModel {
 public:
  HubCacheModel(std::filesystem::path cache, const std::string& model);

  std::filesystem::path Blob(const HubFile& file) const { return folder_ / "blobs" / file.hash; }
  // What has come so far of a file that is not whole.
  std::filesystem::path Part(const HubFile& file) const;
  std::filesystem::path Lock(const HubFile& file) const;
  std::filesystem::path Snapshot(const std::string& commit) const;
  // Bytes that are still to come: 0 where the blob is there with its size.
  int64_t MissingBytes(const HubFile& file) const;

  // Makes the file stand under its name in the commit's snapshot. Throws Error.
  void Link(const HubFile& file, const std::string& commit) const;
  // Makes `revision` mean this commit. Throws Error.
  void WriteRef(const std::string& revision, const std::string& commit) const;
  // Throws Error where the disk has less than `bytes` and a reserve left.
  void CheckSpace(int64_t bytes) const;

 private:
  std::filesystem::path cache_;
  std::string name_;  // models--org--name
  std::filesystem::path folder_;
};

// Held by one process at a time (flock), given back at the end of its life.
class FileLock {
 public:
  // Waits while another process has it. Throws Cancelled; Error where the lock can't be made.
  FileLock(const std::filesystem::path& path, const std::string& thing, const JobContext& context);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Whether the file at `path` has the size and the digest of `file`. Throws Cancelled.
bool HasContent(const std::filesystem::path& path, const HubFile& file, const JobContext& context);

// A file that grows at its end, over several runs of the program. Every member throws Error.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  int64_t size() const { return size_; }
  void Append(std::span<const std::byte> bytes);
  void Clear();
  // What it holds goes into `hash`, from its beginning.
  void AddTo(ContentHash* hash, const JobContext& context) const;
  // On the disk, and under that name; the object is of no use afterwards.
  void MoveTo(const std::filesystem::path& path);

 private:
  [[noreturn]] void Fail(const std::string& what) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace midscope

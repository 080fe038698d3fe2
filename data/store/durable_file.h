// SPDX-License-Identifier: MIT
// A file that appears under its name only when it is complete and flushed to the disk. Internal to
// data/.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>

#include "data/store/hdf5_handles.h"

namespace midscope {

// Creates a temporary file beside `path`; Publish() flushes it to the disk and renames it. Without
// Publish() the destructor removes it.
class DurableFile {
 public:
  // Throws Error (failure) if the folder is missing or can't be written.
  explicit DurableFile(std::string path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  // Records the first errno of a write. HDF5 1.10 crashes at exit after a failed write, so its file
  // driver (OpenHdf5) reports success to HDF5 and records the error here.
  void NoteError(int error_number) {
    if (error_number_ == 0) error_number_ = error_number;
  }
  bool failed() const { return error_number_ != 0; }
  // Throws Error (failure) with the recorded error and its remedy.
  void ThrowIfFailed() const;

  // Creates an empty HDF5 file, open for writing, that is stored in this file. Close it before
  // Publish().
  hdf5::Handle CreateHdf5();

  // Flushes the file, calls `before`, then renames it. If `replace` is false, throws Error (usage)
  // if a file of that name has been created in the meantime.
  void Publish(bool replace, const std::function<void()>& before = {});

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  int error_number_ = 0;
};

// Removes temporary files for `path` that killed processes have left. Call it only while no other
// process can write `path`.
void RemoveLeftTemporaries(const std::string& path);

// Flushes a folder's entries to the disk, so that a rename or removal in it survives a power cut.
void SyncFolderOf(const std::string& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// A file that gets its final name only when it is complete and flushed to the disk. Internal to
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

  // Stores the first errno of a failed write. HDF5 1.10 crashes at exit after a failed write, so
  // the HDF5 file driver of this file reports success to HDF5 and records the error here.
  void NoteError(int error_number) {
    if (error_number_ == 0) error_number_ = error_number;
  }
  bool failed() const { return error_number_ != 0; }
  // Throws Error (failure) if a write has failed; states the first error and its remedy.
  void ThrowIfFailed() const;

  // Returns an empty HDF5 file, open for writing, whose bytes are written to this file. Close it
  // before Publish().
  hdf5::Handle CreateHdf5();

  // Flushes the file to the disk, calls `before`, then gives the file its final name. If `replace`
  // is false, throws Error (usage) if a file of that name has been created in the meantime.
  void Publish(bool replace, const std::function<void()>& before = {});

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  int error_number_ = 0;
};

// Removes temporary files that killed processes have left while writing `path`. Call it only while
// no other process can write `path`.
void RemoveLeftTemporaries(const std::string& path);

// Flushes a folder's entries to the disk, so that a rename or removal in it survives a power cut.
void SyncFolderOf(const std::string& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Paths that a user names: what is there, the text of a file, and where a file is written. Errors
// give the system's reason; std::filesystem's own functions throw exceptions that are no Error, or
// report a folder that may not be entered as a missing file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace midscope {

// Closes a descriptor at its end; a negative one is none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// "PATH: REASON", of a call of std::filesystem that failed.
std::string FileSystemProblem(const std::filesystem::filesystem_error& error);

// Whether there is something at the path, links resolved. Throws Error (failure) where the system
// does not report it: a folder that may not be entered, a circle of links, a name that is too long.
bool PathExists(const std::filesystem::path& path);
// As above: whether it is a folder.
bool IsFolder(const std::filesystem::path& path);

// Throws Error (usage) where there is something else than a file at the path, links resolved: a
// device, a pipe or a socket, in whose place no file may come.
void CheckReplaceable(const std::filesystem::path& path);

// The file to which a path that is a symbolic link leads, whether that file exists or not; other
// paths unchanged. Replacing the link itself would leave the file behind it as it was. Throws Error
// (failure) for a circle of links.
std::string LinkTarget(const std::string& path);

// Opens a file for reading and returns its descriptor, which the caller closes. Throws Error
// (failure): a folder, cannot be opened; Cancelled where a signal ends the wait for a named pipe's
// writer.
int OpenForReading(const std::string& path);

// The bytes of a file or pipe. Throws as OpenForReading, and Error (failure): it cannot be read,
// it is longer than `most_bytes`, which `limit` describes ("1 MiB").
std::string ReadWholeFile(const std::string& path,
                          uint64_t most_bytes = std::numeric_limits<uint64_t>::max(),
                          const std::string& limit = "");

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Functions for paths that a user names: what exists there, the contents of a file, and where a
// file is written. Errors give the system's reason; std::filesystem's own functions throw
// exceptions other than Error, or report a folder that may not be entered as a missing file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace midscope {

// Closes its file descriptor on destruction. A negative number means no descriptor.
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

// Returns "PATH: REASON" for a failed call of std::filesystem.
std::string FileSystemProblem(const std::filesystem::filesystem_error& error);

// Whether anything exists at the path, after following links. Throws Error (failure) if the system
// cannot tell: a folder that may not be entered, a circle of links, a name that is too long.
bool PathExists(const std::filesystem::path& path);
// Whether the path is a folder, after following links. Throws in the same cases as PathExists.
bool IsFolder(const std::filesystem::path& path);

// Throws Error (usage) if the path, after following links, is something other than a file and must
// not be replaced by one: a device, a pipe or a socket.
void CheckReplaceable(const std::filesystem::path& path);

// Returns the target of a symbolic link, whether it exists or not, and any other path unchanged.
// Writers use it because replacing the link itself would leave its target unchanged. Throws Error
// (failure) for a circle of links.
std::string LinkTarget(const std::string& path);

// Opens a file for reading and returns its descriptor, which the caller closes. Throws Error
// (failure) if the path is a folder, a device other than a terminal, or cannot be opened, and
// Cancelled if a signal ends the wait for a named pipe's writer.
int OpenForReading(const std::string& path);

// Returns the bytes of a file or pipe. Throws in the same cases as OpenForReading, and Error
// (failure) if the file cannot be read or is longer than `most_bytes`, which `limit` states as text
// ("1 MiB").
std::string ReadWholeFile(const std::string& path,
                          uint64_t most_bytes = std::numeric_limits<uint64_t>::max(),
                          const std::string& limit = "");

// Makes the folder and its missing parent folders. Throws Error (failure), with the given remedy.
void MakeFolder(const std::filesystem::path& folder, const std::string& remedy = "");

// Writes the text to the file. Throws Error (failure); an existing file is then unchanged.
void WriteTextAt(const std::filesystem::path& path, const std::string& text);

}  // namespace midscope

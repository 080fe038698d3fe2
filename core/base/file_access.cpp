// SPDX-License-Identifier: MIT
#include "core/base/file_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "core/base/error.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

std::string Reason(int error_number) { return std::generic_category().message(error_number); }

fs::file_status StatusOf(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_known = status.type() != fs::file_type::none;
  if (!is_known) throw Failure(path.string(), error.message());
  return status;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string FileSystemProblem(const fs::filesystem_error& error) {
  return error.path1().string() + ": " + error.code().message();
}

bool PathExists(const fs::path& path) { return fs::exists(StatusOf(path)); }

bool IsFolder(const fs::path& path) { return fs::is_directory(StatusOf(path)); }

void CheckReplaceable(const fs::path& path) {
  const fs::file_status status = StatusOf(path);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return;
  throw UsageError(path.string(), "is a device or a pipe, which no file replaces",
                   "Give a file's name");
}

std::string LinkTarget(const std::string& path) {
  constexpr int kMostLinks = 40;  // the Linux kernel's limit
  fs::path target = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error) return target.string();  // not a link, or does not exist
    target = target.parent_path() / next;
  }
  throw Failure(path, Reason(ELOOP));
}

int OpenForReading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int error_number = errno;
  if (descriptor < 0 && error_number == EINTR) throw Cancelled();
  if (descriptor < 0) {
    throw Failure(path, "cannot be opened (" + Reason(error_number) + ")",
                  error_number == ENOENT ? "Check the path" : "");
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return descriptor;
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw Failure(path, "is a folder, not a file", "Name the file in it");
  }
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(descriptor) == 0)) {
    ::close(descriptor);
    throw Failure(path, "is a device, not a file", "Name a file, a pipe or a terminal");
  }
  return descriptor;
}

std::string ReadWholeFile(const std::string& path, uint64_t most_bytes, const std::string& limit) {
  constexpr size_t kChunk = size_t{1} << 20;
  const FileDescriptor file(OpenForReading(path));
  std::string text;
  for (;;) {
    const size_t before = text.size();
    text.resize(before + kChunk);
    const ssize_t count = ::read(file.get(), text.data() + before, kChunk);
    const int error_number = errno;
    if (count < 0 && error_number == EINTR) throw Cancelled();
    if (count < 0) throw Failure(path, "cannot be read (" + Reason(error_number) + ")");
    text.resize(before + static_cast<size_t>(count));
    if (text.size() > most_bytes) throw Failure(path, "it is longer than " + limit);
    if (count == 0) return text;
  }
}

void MakeFolder(const std::filesystem::path& folder, const std::string& remedy) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Failure(folder.string(), "the folder cannot be made: " + failed.message(), remedy);
}

void WriteTextAt(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path partial = path.string() + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(partial, path, failed);
  if (file && !failed) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Failure(path.string(), "it cannot be written",
                "Check the folder's permissions and the free space");
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "data/store/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"

namespace midscope {
namespace {

std::string ErrorText(int error_number) {
  return std::error_code(error_number, std::generic_category()).message();
}

std::string Remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "Make room or write to another disk";
    case EFBIG:
      return "Raise the limit on file sizes (ulimit -f)";
    case ENOENT:
      return "Write to a folder that exists and in which files can be created";
    case EACCES:
    case EPERM:
    case EROFS:
      return "Write to a folder where you may";
    default:
      return "";
  }
}

Error WriteFailure(const std::string& path, int error_number) {
  return Failure(path, "cannot be written: " + ErrorText(error_number), Remedy(error_number));
}

constexpr std::string_view kTemporarySuffix = ".tmp";

// Returns the name of the temporary file for `target`: ".run.h5.PROCESS.ATTEMPT.tmp".
std::string TemporaryName(const std::filesystem::path& target, int64_t process, int attempt) {
  return fmt::format(".{}.{}.{}{}", target.filename().string(), process, attempt, kTemporarySuffix);
}

// Whether `name` is the name of a temporary file for `target` and not for "run.h5.1" or similar.
bool IsTemporaryOf(const std::filesystem::path& target, std::string_view name) {
  const std::string prefix = "." + target.filename().string() + ".";
  if (!name.starts_with(prefix) || !name.ends_with(kTemporarySuffix) ||
      name.size() < prefix.size() + kTemporarySuffix.size()) {
    return false;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(kTemporarySuffix.size());
  return name.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::count(name.begin(), name.end(), '.') == 1;
}

}  // namespace

void RemoveLeftTemporaries(const std::string& path) {
  const std::filesystem::path target(path);
  std::filesystem::path folder = target.parent_path();
  if (folder.empty()) folder = ".";
  std::error_code ignored;  // files that can't be removed only use space
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (IsTemporaryOf(target, entry.path().filename().string()))
      std::filesystem::remove(entry.path(), ignored);
  }
}

void SyncFolderOf(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // some file systems can't open folders
  fsync(descriptor);
  close(descriptor);
}

DurableFile::DurableFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) throw UsageError("output file", "no name is given");
  path_ = LinkTarget(path_);
  if (IsFolder(path_)) {
    throw UsageError(path_, "is a folder", "Give a file's name");
  }
  CheckReplaceable(path_);
  const std::filesystem::path target(path_);
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = (target.parent_path() / TemporaryName(target, getpid(), attempt)).string();
    descriptor_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) throw WriteFailure(path_, errno);
  }
}

DurableFile::~DurableFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

void DurableFile::ThrowIfFailed() const {
  if (failed()) throw WriteFailure(path_, error_number_);
}

void DurableFile::Publish(bool replace, const std::function<void()>& before) {
  ThrowIfFailed();
  if (fsync(descriptor_) != 0) throw WriteFailure(path_, errno);
  if (before) before();
  if (replace) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) throw WriteFailure(path_, errno);
  } else if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) !=
             0) {
    if (errno == EEXIST) throw UsageError(path_, "exists already", "Give another name");
    // Fallback for file systems without RENAME_NOREPLACE: may replace a file that was created after
    // the caller checked that none exists.
    if (rename(temporary_.c_str(), path_.c_str()) != 0) throw WriteFailure(path_, errno);
  }
  close(descriptor_);
  descriptor_ = -1;
  SyncFolderOf(path_);
}

}  // namespace midscope

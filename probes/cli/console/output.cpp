// SPDX-License-Identifier: MIT
#include "probes/cli/console/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/utf8.h"
#include "data/sweep/sweep_lock.h"

namespace midscope::cli {

DescriptorBuffer::DescriptorBuffer(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

void DescriptorBuffer::WriteOut() {
  const char* begin = pbase();
  const char* end = pptr();
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  while (begin < end) {
    const ssize_t written = ::write(descriptor_, begin, static_cast<size_t>(end - begin));
    if (written >= 0) {
      begin += written;
    } else if (errno == EPIPE) {
      throw BrokenPipe();
    } else if (errno != EINTR) {
      throw Failure(name_, std::string("writing fails: ") + std::strerror(errno));
    }
  }
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  WriteOut();
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    sputc(traits_type::to_char_type(character));
  }
  return traits_type::not_eof(character);
}

int DescriptorBuffer::sync() {
  WriteOut();
  return 0;
}

CheckedStream::CheckedStream(int descriptor, const std::string& name)
    : std::ostream(nullptr), buffer_(descriptor, name) {
  rdbuf(&buffer_);
  // Lets exceptions of the buffer reach the code that writes.
  exceptions(std::ios::badbit);
}

std::string TerminalText(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t size = std::min(text.find_first_of("\n\t\\"), text.size());
    shown += DisplayText(text.substr(0, size));
    if (size < text.size()) shown += text[size];
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return shown;
}

// Maximum length of a file name: the system's limit of 255, minus the suffixes of journals, parts
// of ranks and temporary files.
constexpr size_t kMostNameBytes = 220;

void CheckOutputPath(const std::string& path, bool overwrite, const std::string& remedy) {
  const std::filesystem::path file(path);
  if (IsFolder(file)) {
    throw UsageError(path, "it is a folder",
                     "Give a file's name, such as " + (file / "run.h5").string());
  }
  CheckReplaceable(file);
  if (file.filename().string().size() > kMostNameBytes) {
    throw UsageError(path,
                     fmt::format("its name is longer than {} bytes, and files with longer names "
                                 "are made beside it",
                                 kMostNameBytes),
                     "Give a shorter name");
  }
  CheckNoWriter(path);
  if (!overwrite && PathExists(file)) {
    throw UsageError(path, "the file exists", remedy);
  }
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!IsFolder(folder)) {
    throw Failure(path, "the folder " + folder.string() + " does not exist", "Make it first");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Failure(path, std::string("it cannot be written: ") + std::strerror(errno),
                  "Write to a folder where you may");
  }
}

void MakeFolderOfFiles(const std::string& folder) {
  if (PathExists(folder) && !IsFolder(folder)) {
    throw UsageError(folder, "it is a file; several models, tasks or seeds go into a folder",
                     "Give another --out");
  }
  std::error_code failed;
  std::filesystem::create_directory(folder, failed);
  if (failed) throw Failure(folder, "the folder cannot be made: " + failed.message());
}

namespace {

// Returns whether an HDF5 file would be written with the extension of a text file.
bool IsHdf5UnderTextName(const std::string& path) {
  constexpr std::string_view kMark = "\x89HDF";
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".txt" && ending != ".csv" && ending != ".tsv" && ending != ".json") return false;
  std::string bytes(kMark.size(), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), std::ssize(bytes));
  return bytes == kMark;
}

}  // namespace

std::string FileNote(const std::string& path) {
  if (path.empty()) return "";
  return "file: " + path + (IsHdf5UnderTextName(path) ? " (HDF5)" : "") + "\n";
}

void RefuseWithoutOut(const OptionSet& options, const char* name) {
  if (!options.IsSet(name) || !options.Text("out").empty()) return;
  throw UsageError(std::string("option --") + name, "it has no effect without --out",
                   "Give --out FILE too, or leave it out");
}

void CheckOutOption(const OptionSet& options) {
  RefuseWithoutOut(options, "overwrite");
  const std::string& file = options.Text("out");
  if (file.empty()) return;
  CheckOutputPath(file, options.Flag("overwrite"), "Give --overwrite, or another --out");
}

void CheckOverwrite(const OptionSet& options) {
  RefuseWithoutOut(options, "overwrite");
  if (!options.Flag("overwrite") || !options.Flag("resume")) return;
  throw UsageError("option --overwrite", "--resume continues the file that it would replace",
                   "Give one of them");
}

void WriteTextFile(const std::string& link, const std::function<void(std::ostream&)>& write) {
  const std::string path = LinkTarget(link);
  const std::string temporary = path + ".part";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw Failure(path, std::string("it cannot be written: ") + std::strerror(errno));
  }
  try {
    CheckedStream out(descriptor, path);
    write(out);
    out.flush();
  } catch (...) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    throw;
  }
  const bool closed = ::close(descriptor) == 0;
  if (!closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw Failure(path, "writing fails: " + why);
  }
}

}  // namespace midscope::cli

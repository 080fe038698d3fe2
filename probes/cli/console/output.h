// SPDX-License-Identifier: MIT
// Output streams, to standard output and files, that report why a write failed.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "core/base/options.h"

namespace midscope::cli {

// Thrown when the program that reads standard output has closed it (`| head`); ends this program
// without an error message.
class BrokenPipe : public std::exception {
 public:
  const char* what() const noexcept override { return "broken pipe"; }
};

// A stream buffer that writes to a file descriptor; overflow and sync throw BrokenPipe, or Error
// (failure) with `name`.
class DescriptorBuffer : public std::streambuf {
 public:
  DescriptorBuffer(int descriptor, std::string name);

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  void WriteOut();

  int descriptor_;
  std::string name_;
  std::array<char, 1 << 16> bytes_;
};

// An output stream with a DescriptorBuffer; it throws write errors as exceptions.
class CheckedStream : public std::ostream {
 public:
  CheckedStream(int descriptor, const std::string& name);

 private:
  DescriptorBuffer buffer_;
};

// Returns text of several lines in a form safe for a terminal: characters that are invisible or
// move the cursor are escaped (DisplayText, core/base/utf8.h), except line ends and tabs.
std::string TerminalText(std::string_view text);

// Throws Error (usage) if the file exists and `overwrite` is false, and (failure) if another
// process is writing a sweep of that name, or the folder does not exist or can't be written. Call
// it before the results are computed.
void CheckOutputPath(const std::string& path, bool overwrite, const std::string& remedy);

// Creates the folder --out, for commands that write several files. Throws Error: (usage) if it is a
// file, (failure) if it cannot be created.
void MakeFolderOfFiles(const std::string& folder);

// Returns the last line of output of a command that wrote `path`: "file: run.h5"; "" if `path` is
// "".
std::string FileNote(const std::string& path);

// Throws Error (usage) if option `name`, which has no effect without --out, is given without it.
void RefuseWithoutOut(const OptionSet& options, const char* name);

// Checks the option --overwrite, and --out if given (CheckOutputPath). Throws Error.
void CheckOutOption(const OptionSet& options);

// Throws Error (usage) if --overwrite is given without --out or together with --resume.
void CheckOverwrite(const OptionSet& options);

// Writes a text file by calling `write`. If it throws Error, the incomplete file is removed.
void WriteTextFile(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace midscope::cli

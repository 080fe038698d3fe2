// SPDX-License-Identifier: MIT
// Streams that report why a write failed: standard output, and files.
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

// Standard output is no longer read (`| head`): ends the program without an error message.
class BrokenPipe : public std::exception {
 public:
  const char* what() const noexcept override { return "broken pipe"; }
};

// Writes to a file descriptor; overflow and sync throw Error (failure) that names `name`, or
// BrokenPipe.
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

// A stream with such a buffer; errors are thrown as exceptions.
class CheckedStream : public std::ostream {
 public:
  CheckedStream(int descriptor, const std::string& name);

 private:
  DescriptorBuffer buffer_;
};

// Text of several lines made safe for a terminal: characters that are invisible or move the cursor,
// except line ends and tabs, are escaped by DisplayText (core/base/utf8.h).
std::string TerminalText(std::string_view text);

// Throws Error (usage) if the file exists and `overwrite` is false, and (failure) if another
// process is writing a sweep of that name, or the folder does not exist or can't be written. Called
// before the work.
void CheckOutputPath(const std::string& path, bool overwrite, const std::string& remedy);

// Makes the folder of --out where a command writes several files. Throws Error: (usage) it is a
// file, (failure) it cannot be made.
void MakeFolderOfFiles(const std::string& folder);

// The last line of a command that wrote a file: "file: run.h5"; "" for none.
std::string FileNote(const std::string& path);

// Throws Error (usage) if an option is given that has no effect without --out, and that is not.
void RefuseWithoutOut(const OptionSet& options, const char* name);

// Checks --out, if it is given, by CheckOutputPath, and --overwrite. Throws Error.
void CheckOutOption(const OptionSet& options);

// Throws Error (usage) if --overwrite is given without --out, or beside --resume.
void CheckOverwrite(const OptionSet& options);

// Writes a text file through `write`. After an Error no partial file is left.
void WriteTextFile(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace midscope::cli

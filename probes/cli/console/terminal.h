// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace midscope::cli {

// Width of the output for a file or a pipe, in columns.
inline constexpr size_t kPipeWidth = 160;

// Returns the number of columns that tables and captions may take: those of the terminal on
// standard output. For a file or a pipe, returns the environment variable COLUMNS if it is an
// integer >= 1, otherwise kPipeWidth.
size_t TerminalWidth();

// A source of lines, read without blocking: a file, a pipe or a terminal.
class LineSource {
 public:
  virtual ~LineSource() = default;
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  virtual int descriptor() const = 0;
  // Reads the available data; call it when poll() reports input. Throws Error if reading fails.
  virtual void Fill() = 0;
  // Returns the next complete line without its end ("\n" or "\r\n"); at the end of the input, also
  // a line without an end. nullopt if there is none.
  virtual std::optional<std::string> Next() = 0;
  // Whether the input has ended; complete lines may still be available from Next().
  virtual bool at_end() const = 0;
  // Invite() shows the input prompt and the text typed so far; Hide() erases both, so that other
  // text can be written. Only effective at a terminal.
  virtual void Invite() {}
  virtual void Hide() {}
};

class LineReader : public LineSource {
 public:
  // `invitation`: the text of the input prompt, written to standard error at a terminal.
  explicit LineReader(int descriptor, std::string invitation = "")
      : descriptor_(descriptor), invitation_(std::move(invitation)) {}

  int descriptor() const override { return descriptor_; }
  void Fill() override;
  std::optional<std::string> Next() override;
  bool at_end() const override { return at_end_; }
  void Invite() override;
  void Hide() override;

 private:
  int descriptor_;
  std::string invitation_;
  std::string buffer_;
  bool at_end_ = false;
};

// Makes a source of lines typed at a terminal, with editing and history (libedit, with the keys of
// readline). The history is stored in a file in the user's state folder (XDG_STATE_HOME). Only one
// such source may exist at a time. Returns null if this build has no libedit.
std::unique_ptr<LineSource> MakeTerminalLines(const std::string& invitation);

}  // namespace midscope::cli

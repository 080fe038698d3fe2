// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace midscope::cli {

// Columns of the terminal that standard output is; nullopt if it is a file or a pipe, whose lines
// are as long as they need to be.
std::optional<size_t> TerminalWidth();

// Reads lines from a descriptor without blocking.

// The source of lines: a file, a pipe, or a terminal.
class LineSource {
 public:
  virtual ~LineSource() = default;
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  virtual int descriptor() const = 0;
  // Reads available data; call when poll() reports some. Throws Error if reading fails.
  virtual void Fill() = 0;
  // A complete line, without its end ("\n" or "\r\n"); at the end of input also one without an
  // end.
  virtual std::optional<std::string> Next() = 0;
  // Whether the input has ended; lines may still be available.
  virtual bool at_end() const = 0;
  // Shows the prompt for a line with its typed text; hides it, so that other text can be written.
  // At a terminal only.
  virtual void Invite() {}
  virtual void Hide() {}
};

class LineReader : public LineSource {
 public:
  // `invitation`: written to standard error at a terminal.
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

// Lines typed at a terminal, with editing and history (libedit; readline's keys). The history is
// stored in a file of the user's state folder (XDG_STATE_HOME). Only one may exist. Null if this
// build has no libedit.
std::unique_ptr<LineSource> MakeTerminalLines(const std::string& invitation);

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// Lines from a descriptor, without waiting for them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace midscope::cli {

// Where lines come from: a file, a pipe, or somebody who types.
class LineSource {
 public:
  virtual ~LineSource() = default;
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  virtual int descriptor() const = 0;
  // Reads what is there; call when poll() says so. Throws Error where reading fails.
  virtual void Fill() = 0;
  // A whole line, without its end ("\n" or "\r\n"); at the end of input also one without an end.
  virtual std::optional<std::string> Next() = 0;
  // Whether no more will come; lines may still be there.
  virtual bool at_end() const = 0;
  // Shows that a line is awaited, with what is typed of it already; takes that away, so that other
  // text may be written. At a terminal alone.
  virtual void Invite() {}
  virtual void Hide() {}
};

class LineReader : public LineSource {
 public:
  // `invitation`: written to standard error where somebody types.
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

// Lines that are typed at the terminal, with editing and history (libedit; as readline's keys). The
// history lasts from one call of the program to the next, in a file of the user's state folder
// (XDG_STATE_HOME). One at a time. Null where this build has no libedit.
std::unique_ptr<LineSource> MakeTerminalLines(const std::string& invitation);

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// Lines from a descriptor, without waiting for them.
#pragma once

#include <optional>
#include <string>

namespace midscope::cli {

class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  int descriptor() const { return descriptor_; }
  // Reads what is there; call when poll() says so. Throws Error where reading fails.
  void Fill();
  // A whole line, without its end ("\n" or "\r\n"); at the end of input also one without an end.
  std::optional<std::string> Next();
  // Whether no more will come; lines may still be there.
  bool at_end() const { return at_end_; }

 private:
  int descriptor_;
  std::string buffer_;
  bool at_end_ = false;
};

}  // namespace midscope::cli

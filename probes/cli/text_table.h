// SPDX-License-Identifier: MIT
// Aligned columns for a terminal.
#pragma once

#include <string>
#include <vector>

namespace midscope::cli {

// Columns as wide as their widest cell, two spaces apart; numbers right-aligned, text left-aligned.
// Width is counted in characters (code points). Every row must have as many cells as the header.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace midscope::cli

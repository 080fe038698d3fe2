// SPDX-License-Identifier: MIT
// Aligned columns for a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probes/cli/terminal_width.h"

namespace midscope::cli {

// Columns as wide as their widest cell, two spaces apart; numbers right-aligned, text left-aligned.
// Width is counted in characters (code points). Every row must have as many cells as the header.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Where the table is wider than `width`, text and headings are wrapped inside their columns;
  // numbers stay whole.
  std::string Text(std::optional<size_t> width = TerminalWidth()) const;

 private:
  struct Column {
    size_t width = 0;
    size_t narrowest = 0;  // to which its cells can be wrapped
    bool right = true;
  };
  std::vector<Column> Columns() const;

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// The output of a command as lines and tables, which are printed as text or written as HTML.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/cli/console/text_table.h"

namespace midscope::cli {

class Printout {
 public:
  // Lines of text, or a table.
  struct Block {
    std::string lines;  // with their line ends
    std::optional<TextTable> table;
    std::string caption;  // of the table, for HTML; as text, `lines` are printed in its place
  };

  Printout() = default;
  explicit Printout(const std::string& lines) { *this += lines; }

  // Adds lines; "" adds nothing.
  Printout& operator+=(const std::string& lines);
  Printout& operator+=(const Printout& other);
  // Adds a table whose caption is not printed as text.
  void Add(const std::string& caption, TextTable table);
  // Adds a table below a blank line and its title.
  void AddTitled(const std::string& title, TextTable table);

  const std::vector<Block>& blocks() const { return blocks_; }
  // Returns the text of all blocks; tables fit the width of the terminal.
  std::string Text() const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace midscope::cli

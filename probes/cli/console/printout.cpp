// SPDX-License-Identifier: MIT
#include "probes/cli/console/printout.h"

namespace midscope::cli {

Printout& Printout::operator+=(const std::string& lines) {
  if (lines.empty()) return *this;
  if (blocks_.empty() || blocks_.back().table) blocks_.emplace_back();
  blocks_.back().lines += lines;
  return *this;
}

Printout& Printout::operator+=(const Printout& other) {
  for (const Block& block : other.blocks_) {
    if (block.table) {
      blocks_.push_back(block);
    } else {
      *this += block.lines;
    }
  }
  return *this;
}

void Printout::Add(const std::string& caption, TextTable table) {
  blocks_.push_back({"", std::move(table), caption});
}

void Printout::AddTitled(const std::string& title, TextTable table) {
  blocks_.push_back({"\n" + title + "\n", std::move(table), title});
}

std::string Printout::Text() const {
  std::string text;
  for (const Block& block : blocks_) {
    text += block.lines;
    if (block.table) text += block.table->Text();
  }
  return text;
}

}  // namespace midscope::cli

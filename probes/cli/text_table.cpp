// SPDX-License-Identifier: MIT
#include "probes/cli/text_table.h"
#include "core/base/utf8.h"

#include <algorithm>

namespace midscope::cli {
namespace {

size_t Width(const std::string& text) { return static_cast<size_t>(CountCharacters(text)); }

// Digits, and the characters around them in numbers and intervals.
bool IsNumber(const std::string& text) {
  return text.find_first_not_of("0123456789+-. [],e%") == std::string::npos;
}

}  // namespace

std::string TextTable::Text() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t column = 0; column < columns; ++column) {
      widths[column] = std::max(widths[column], Width(rows_[row][column]));
      if (row > 0 && !IsNumber(rows_[row][column])) right[column] = false;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t column = 0; column < columns; ++column) {
      const std::string padding(widths[column] - Width(row[column]), ' ');
      if (column > 0) line += "  ";
      line += right[column] ? padding + row[column] : row[column] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace midscope::cli

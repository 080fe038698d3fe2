// SPDX-License-Identifier: MIT
// Aligned columns for a terminal.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "probes/cli/console/terminal.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope::cli {

// Columns as wide as their widest cell, separated by two spaces; numbers right-aligned, text
// left-aligned. Width is counted in characters (code points). Every row must have as many cells as
// the header.
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

// Wraps long lines of help.

inline constexpr size_t kHelpWidth = 100;

// Columns of help: those of the terminal if it is narrower than kHelpWidth.
size_t HelpWidth();

// `first` and the text after it, wrapped at spaces to lines of at most `width` characters;
// continuation lines begin with `indent` spaces. "" if the text is empty.
std::string Paragraph(const std::string& first, const std::string& text, size_t indent,
                      size_t width = HelpWidth());

// Wraps every longer line of the text, with the indent of the line plus two.
std::string Wrapped(const std::string& text, size_t width = HelpWidth());

// Help whose lines fit kHelpWidth, for a narrower terminal: lines of a paragraph are joined before
// they are wrapped. What follows "Examples:" stays as it is, so that it can be copied.
std::string Fitted(const std::string& text, size_t width = HelpWidth());

// How tables print means with their intervals, and p values.

// "1.50 [1.20, 1.80]"; "-" for none.
inline std::string WithInterval(double value, const Interval& interval) {
  if (!std::isfinite(value)) return "-";
  if (!std::isfinite(interval.low)) return fmt::format("{:.2f}", value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, interval.low, interval.high);
}

inline std::string PText(double p) {
  if (!std::isfinite(p)) return "-";
  return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p);
}

}  // namespace midscope::cli

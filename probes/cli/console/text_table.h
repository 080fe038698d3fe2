// SPDX-License-Identifier: MIT
// Formats tables and paragraphs for a terminal.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/cli/console/terminal.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope::cli {

// A table whose columns are as wide as their widest cell and separated by two spaces; numbers are
// right-aligned, text left-aligned. Width is counted in characters (code points). Every row must
// have as many cells as the header.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Returns the table as text. If it is wider than `width`, text and headings are wrapped inside
  // their columns. If that does not suffice, intervals are wrapped below their means, then columns
  // are separated by one space, then text columns become as narrow as 6 characters. A table that is
  // still too wide is printed in blocks of columns, each of which begins with the first column.
  std::string Text(std::optional<size_t> width = TerminalWidth()) const;

  // Returns the cells of the header, then of the rows.
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  // Whether all cells of a column are numbers; false if the table has no rows.
  bool IsNumeric(size_t column) const;

 private:
  struct Column {
    size_t width = 0;
    size_t narrowest = 0;  // minimum width with wrapped cells
    bool right = true;
  };
  // How far columns may be narrowed to fit the width of the terminal.
  struct Fit {
    size_t gap;             // spaces between columns
    size_t narrowest_text;  // longer words of a text are cut to this many characters
    bool splits_intervals;
  };
  std::vector<Column> Columns(const Fit& fit) const;
  // Returns the table in blocks of as many columns as fit. `columns`: widths at the narrowest fit.
  std::string Blocks(const std::vector<Column>& columns, size_t width) const;

  std::vector<std::vector<std::string>> rows_;
};

// Maximum width of help text, in characters.

inline constexpr size_t kHelpWidth = 100;

// Width of help text: the width of the terminal, at most kHelpWidth.
size_t HelpWidth();

// Returns `first` followed by the text, wrapped at spaces to lines of at most `width` characters;
// continuation lines begin with `indent` spaces. "" if the text is empty.
std::string Paragraph(const std::string& first, const std::string& text, size_t indent,
                      size_t width = HelpWidth());

// Wraps every line longer than `width` at spaces; continuation lines are indented by two more
// spaces than the line. Words longer than the width, such as paths, are not cut or moved.
std::string Wrapped(const std::string& text, size_t width = HelpWidth());

// Wraps captions and notes to the width of the terminal.
inline std::string FittedLines(const std::string& text) { return Wrapped(text, TerminalWidth()); }

// Rewraps help text, whose lines fit kHelpWidth, for a narrower terminal: lines of a paragraph are
// joined, then wrapped. Text after "Examples:" is unchanged, so that examples can be copied.
std::string Fitted(const std::string& text, size_t width = HelpWidth());

// Formats means with their intervals, and p values, for tables.

// Returns "1.50 [1.20, 1.80]"; "-" if there is no value.
inline std::string WithInterval(double value, const Interval& interval) {
  if (!std::isfinite(value)) return "-";
  if (!std::isfinite(interval.low)) return fmt::format("{:.2f}", value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, interval.low, interval.high);
}

inline std::string PText(double p) {
  if (!std::isfinite(p)) return "-";
  return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p);
}

// Names settings by letters in a table if their texts are too wide for it.
class SettingLetters {
 public:
  // All settings are replaced by letters if one is wider than 40 characters (24 in a terminal of
  // less than 100 columns); otherwise their texts are used.
  explicit SettingLetters(const std::vector<std::string>& settings,
                          std::optional<size_t> terminal_width = TerminalWidth());

  // Returns the setting's name in the table: its letter or its text.
  const std::string& Name(size_t setting) const { return names_[setting]; }
  // Returns one line per letter with the text of its setting; "" if there are no letters.
  const std::string& Legend() const { return legend_; }

 private:
  std::vector<std::string> names_;
  std::string legend_;
};

// The output of a command as lines and tables, which are printed as text or written as HTML.
class Printout {
 public:
  // Lines of text, or a table.
  struct Block {
    std::string lines;  // text with line ends
    std::optional<TextTable> table;
    std::string caption;  // caption of the table in HTML; as text, `lines` replace it
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

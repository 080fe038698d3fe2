// SPDX-License-Identifier: MIT
#include "probes/cli/console/text_table.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/utf8.h"
#include "probes/cli/console/terminal.h"

namespace midscope::cli {
namespace {

size_t Width(const std::string& text) { return static_cast<size_t>(CountCharacters(text)); }

// Returns whether the text consists of characters of numbers and intervals.
bool IsNumber(const std::string& text) {
  return text.find_first_not_of("0123456789+-. [],e%") == std::string::npos;
}

// Returns the end of the word that begins at `first`; "[0.31, 0.60]" is one word.
size_t WordEnd(const std::string& text, size_t first) {
  const size_t end = std::min(text.find(' ', first), text.size());
  const size_t open = text.find('[', first);
  if (open >= end) return end;
  const size_t close = text.find(']', open);
  if (close == std::string::npos || close < end) return end;
  return IsNumber(text.substr(open, close - open)) ? std::min(text.find(' ', close), text.size())
                                                   : end;
}

// Splits the text into words; all but the first include the spaces before them.
std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t first = std::min(text.find_first_not_of(' ', begin), text.size());
    const size_t end = WordEnd(text, first);
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

// Returns the width of the longest word, or of its longest part if words may be cut after '_'.
size_t LongestWord(const std::string& text, bool cut) {
  size_t longest = 0;
  for (const std::string& word : Words(text)) {
    size_t begin = std::min(word.find_first_not_of(' '), word.size());
    while (begin < word.size()) {
      const size_t mark = cut ? word.find('_', begin) : std::string::npos;
      const size_t end = mark == std::string::npos ? word.size() : mark + 1;
      longest = std::max(longest, Width(word.substr(begin, end - begin)));
      begin = end;
    }
  }
  return longest;
}

// Returns the number of bytes of the first `characters` characters of the text, at least one.
size_t BytesOf(const std::string& text, size_t characters) {
  size_t at = 0;
  for (size_t count = 0; at < text.size(); ++at) {
    if (BeginsCharacter(text[at]) && ++count > std::max<size_t>(characters, 1)) break;
  }
  return at;
}

std::vector<std::string> WrappedCell(const std::string& text, size_t width) {
  if (Width(text) <= width) return {text};
  std::vector<std::string> lines(1);
  for (std::string word : Words(text)) {
    if (Width(lines.back()) + Width(word) > width && !lines.back().empty()) lines.emplace_back();
    if (lines.back().empty()) word.erase(0, word.find_first_not_of(' '));
    while (Width(word) > width) {
      size_t bytes = BytesOf(word, width);
      const size_t mark = word.find_last_of("_/", bytes - 1);
      if (mark != std::string::npos && mark > 0) bytes = mark + 1;
      lines.back() = word.substr(0, bytes);
      lines.emplace_back();
      word.erase(0, bytes);
    }
    lines.back() += word;
  }
  return lines;
}

}  // namespace

bool TextTable::IsNumeric(size_t column) const {
  return rows_.size() > 1 && std::all_of(rows_.begin() + 1, rows_.end(),
                                         [&](const auto& row) { return IsNumber(row[column]); });
}

std::vector<TextTable::Column> TextTable::Columns(const Fit& fit) const {
  std::vector<Column> columns(rows_.front().size());
  for (size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    column.right = IsNumeric(i);
    size_t body = 0;
    size_t word = 0;
    for (size_t row = 0; row < rows_.size(); ++row) {
      column.width = std::max(column.width, Width(rows_[row][i]));
      if (row == 0) continue;
      body = std::max(body, Width(rows_[row][i]));
      word = std::max(word, LongestWord(rows_[row][i], false));
    }
    const size_t number = fit.splits_intervals ? word : body;
    const size_t needed = column.right ? number : std::min(body, fit.narrowest_text);
    column.narrowest = std::max(needed, LongestWord(rows_.front()[i], fit.splits_intervals));
  }
  return columns;
}

std::string TextTable::Blocks(const std::vector<Column>& columns, size_t width) const {
  size_t count = 1;
  size_t sum = columns.front().narrowest;
  do {
    sum += 1 + columns[count++].narrowest;
  } while (count < columns.size() && sum + 1 + columns[count].narrowest <= width);
  if (count == columns.size()) return Text(std::nullopt);
  TextTable first(std::vector<std::string>{});
  TextTable rest(std::vector<std::string>{});
  first.rows_.clear();
  rest.rows_.clear();
  for (const std::vector<std::string>& row : rows_) {
    const auto end = row.begin() + static_cast<std::ptrdiff_t>(count);
    first.rows_.emplace_back(row.begin(), end);
    rest.rows_.push_back({row.front()});
    rest.rows_.back().insert(rest.rows_.back().end(), end, row.end());
  }
  return first.Text(width) + "\n" + rest.Text(width);
}

std::string TextTable::Text(std::optional<size_t> width) const {
  constexpr Fit kFits[] = {{2, 12, false}, {2, 12, true}, {1, 12, true}, {1, 6, true}};
  std::vector<Column> columns;
  size_t gap = 0;
  const auto total = [&] {
    size_t sum = gap * (columns.size() - 1);
    for (const Column& column : columns) sum += column.width;
    return sum;
  };
  const auto can_lose = [](const Column& column) {
    return column.width > column.narrowest ? column.width : 0;
  };
  for (const Fit& fit : kFits) {
    columns = Columns(fit);
    gap = fit.gap;
    while (width && total() > *width) {
      const auto widest = std::max_element(
          columns.begin(), columns.end(),
          [&](const Column& a, const Column& b) { return can_lose(a) < can_lose(b); });
      if (can_lose(*widest) == 0) break;
      --widest->width;
    }
    if (!width || total() <= *width) break;
  }
  if (width && total() > *width && columns.size() > 2) return Blocks(columns, *width);
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (size_t i = 0; i < columns.size(); ++i) {
      cells.push_back(WrappedCell(row[i], columns[i].width));
      height = std::max(height, cells.back().size());
    }
    for (size_t at = 0; at < height; ++at) {
      std::string line;
      for (size_t i = 0; i < columns.size(); ++i) {
        const std::string cell = at < cells[i].size() ? cells[i][at] : "";
        const std::string padding(columns[i].width - Width(cell), ' ');
        if (i > 0) line += std::string(gap, ' ');
        line += columns[i].right ? padding + cell : cell + padding;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

size_t HelpWidth() {
  constexpr size_t kNarrowest = 50;  // minimum for the right column of options
  return std::clamp(TerminalWidth(), kNarrowest, kHelpWidth);
}

std::string Paragraph(const std::string& first, const std::string& text, size_t indent,
                      size_t width) {
  if (text.empty()) return "";
  std::string out;
  std::string line = first;
  bool holds_words = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool fits_a_line = indent + Width(word) <= width;
    if (holds_words && fits_a_line && Width(line) + Width(word) > width) {
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = std::string(indent, ' ');
    }
    line += word + " ";
    holds_words = true;
    begin = end + 1;
  }
  return out + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string Wrapped(const std::string& text, size_t width) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    out += Width(line) <= width
               ? line + "\n"
               : Paragraph(line.substr(0, spaces), line.substr(spaces), spaces + 2, width);
    begin = end + 1;
  }
  return out;
}

std::string Fitted(const std::string& text, size_t width) {
  if (width >= kHelpWidth) return text;
  constexpr std::string_view kExamples = "\nExamples:\n";
  constexpr size_t kLongLine = 60;  // a shorter line, such as a heading, ends its paragraph
  const size_t kept = std::min(text.find(kExamples), text.size());
  std::string joined;
  size_t line_begin = 0;
  for (size_t i = 0; i < kept; ++i) {
    const bool follows = text[i] == '\n' && i - line_begin >= kLongLine &&
                         text[line_begin] != ' ' && i + 1 < kept && text[i + 1] != ' ' &&
                         text[i + 1] != '\n';
    joined += follows ? ' ' : text[i];
    if (text[i] == '\n') line_begin = i + 1;
  }
  std::string fitted;
  for (size_t begin = 0; begin < joined.size();) {
    const size_t end = std::min(joined.find('\n', begin), joined.size());
    const std::string line = joined.substr(begin, end - begin);
    fitted += line.starts_with(' ') ? Wrapped(line, width) : Paragraph("", line, 0, width);
    if (line.empty()) fitted += "\n";
    begin = end + 1;
  }
  return fitted + text.substr(kept);
}

namespace {

constexpr size_t kWidest = 40;
constexpr size_t kWidestInNarrow = 24;
constexpr size_t kNarrowTerminal = 100;
constexpr size_t kLetters = 26;

// Returns letters that name settings: "a" to "z", "a1" to "z1", ...; capital letters name files.
std::string Letter(size_t index) {
  std::string letter(1, static_cast<char>('a' + index % kLetters));
  if (index >= kLetters) letter += std::to_string(index / kLetters);
  return letter;
}

}  // namespace

SettingLetters::SettingLetters(const std::vector<std::string>& settings,
                               std::optional<size_t> terminal_width)
    : names_(settings) {
  const bool narrow = terminal_width && *terminal_width < kNarrowTerminal;
  const size_t widest = narrow ? kWidestInNarrow : kWidest;
  const bool wide = std::any_of(settings.begin(), settings.end(),
                                [widest](const std::string& text) { return text.size() > widest; });
  for (size_t i = 0; wide && i < settings.size(); ++i) {
    names_[i] = Letter(i);
    legend_ += names_[i] + "  " + settings[i] + "\n";
  }
}

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

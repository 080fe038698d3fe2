// SPDX-License-Identifier: MIT
#include "probes/cli/paragraph.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "probes/cli/terminal_width.h"

namespace midscope::cli {

size_t HelpWidth() {
  constexpr size_t kNarrowest = 50;  // the right column of options needs some room
  return std::clamp(TerminalWidth().value_or(kHelpWidth), kNarrowest, kHelpWidth);
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
    if (holds_words && line.size() + word.size() > width) {
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
    out += line.size() <= width
               ? line + "\n"
               : Paragraph(line.substr(0, spaces), line.substr(spaces), spaces + 2, width);
    begin = end + 1;
  }
  return out;
}

std::string Fitted(const std::string& text, size_t width) {
  if (width >= kHelpWidth) return text;
  constexpr std::string_view kExamples = "\nExamples:\n";
  constexpr size_t kLongLine = 60;  // a shorter one, such as a heading, ends its paragraph
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

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
#include "probes/cli/paragraph.h"

#include <algorithm>

namespace midscope::cli {

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

std::string Wrapped(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    out += line.size() <= kHelpWidth
               ? line + "\n"
               : Paragraph(line.substr(0, spaces), line.substr(spaces), spaces + 2);
    begin = end + 1;
  }
  return out;
}

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// Wraps long lines of help.
#pragma once

#include <cstddef>
#include <string>

namespace midscope::cli {

inline constexpr size_t kHelpWidth = 100;

// Columns of help: those of the terminal where it is narrower than kHelpWidth.
size_t HelpWidth();

// `first` and the text after it, wrapped at spaces to lines of at most `width` characters;
// continuation lines begin with `indent` spaces. "" where the text is empty.
std::string Paragraph(const std::string& first, const std::string& text, size_t indent,
                      size_t width = HelpWidth());

// Wraps every longer line of the text, with the indent of the line plus two.
std::string Wrapped(const std::string& text, size_t width = HelpWidth());

// Help whose lines fit kHelpWidth, for a narrower terminal: lines of a paragraph are joined before
// they are wrapped. What follows "Examples:" stays as it is, so that it can be copied.
std::string Fitted(const std::string& text, size_t width = HelpWidth());

}  // namespace midscope::cli

// SPDX-License-Identifier: MIT
// Long lines of help, broken for a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace midscope::cli {

inline constexpr size_t kHelpWidth = 100;

// `first` and the text behind it, broken at spaces to lines of at most `width` characters; the
// further lines begin with `indent` spaces. "" where the text is empty.
std::string Paragraph(const std::string& first, const std::string& text, size_t indent,
                      size_t width = kHelpWidth);

// Every line of the text that is longer broken so, with the indent of the line and two more.
std::string Wrapped(const std::string& text);

}  // namespace midscope::cli

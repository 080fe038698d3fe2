// SPDX-License-Identifier: MIT
// Text files as Windows' editors write them.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The contents of a text file without a byte-order mark, each CR LF as LF.
inline std::string PlainText(std::string_view contents) {
  if (contents.starts_with(kByteOrderMark)) contents.remove_prefix(kByteOrderMark.size());
  std::string text;
  text.reserve(contents.size());
  for (size_t i = 0; i < contents.size(); ++i) {
    if (contents.substr(i, 2) != "\r\n") text += contents[i];
  }
  return text;
}

}  // namespace midscope

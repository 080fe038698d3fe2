// SPDX-License-Identifier: MIT
#include "core/base/utf8.h"

#include <utf8proc.h>

#include <cstdio>

#include <fmt/format.h>

#include "core/base/error.h"

namespace midscope {
namespace {

// Returns the length of the character at text[offset], or 0 if there is none; `code` receives the
// code point.
int64_t NextCharacter(std::string_view text, size_t offset, utf8proc_int32_t* code) {
  const auto* begin = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + offset;
  const utf8proc_ssize_t length =
      utf8proc_iterate(begin, static_cast<utf8proc_ssize_t>(text.size() - offset), code);
  return length > 0 ? length : 0;
}

bool IsShown(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

std::string Escape(const char* format, unsigned value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// Returns the character or byte at `offset` in displayable form, and advances `offset`.
std::string ShowNext(std::string_view text, size_t* offset) {
  utf8proc_int32_t code = 0;
  const int64_t length = NextCharacter(text, *offset, &code);
  const std::string_view character = text.substr(*offset, static_cast<size_t>(length));
  if (length == 0) return Escape("\\x%02X", static_cast<unsigned char>(text[(*offset)++]));
  *offset += static_cast<size_t>(length);
  switch (code) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case '\\':
      return "\\\\";
    default:
      return IsShown(code) ? std::string(character)
                           : Escape("\\u{%04X}", static_cast<unsigned>(code));
  }
}

}  // namespace

std::optional<int64_t> FindInvalidUtf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    if (static_cast<unsigned char>(text[offset]) < 0x80) {
      ++offset;
      continue;
    }
    utf8proc_int32_t code = 0;
    const int64_t length = NextCharacter(text, offset, &code);
    if (length == 0) return static_cast<int64_t>(offset);
    offset += static_cast<size_t>(length);
  }
  return std::nullopt;
}

namespace {

// For a `text` that does not begin with a well-formed character: returns how many of its first
// bytes could begin one; at least 1.
size_t BrokenLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const size_t whole = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  size_t length = 1;
  while (length + 1 < whole && length < text.size() && byte(length) >= low &&
         byte(length) <= high) {
    ++length;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

}  // namespace

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string whole;
  while (const std::optional<int64_t> invalid = FindInvalidUtf8(text)) {
    whole += text.substr(0, static_cast<size_t>(*invalid));
    whole += "\xEF\xBF\xBD";
    text.remove_prefix(static_cast<size_t>(*invalid));
    text.remove_prefix(BrokenLength(text));
  }
  return whole.append(text);
}

void CheckUtf8(const std::string& thing, std::string_view text) {
  if (const auto offset = FindInvalidUtf8(text)) {
    const auto byte = static_cast<unsigned char>(text[static_cast<size_t>(*offset)]);
    throw Failure(thing, fmt::format("not UTF-8 at byte {} ({})", *offset, Escape("0x%02X", byte)),
                  "Convert it to UTF-8");
  }
}

std::string DisplayText(std::string_view bytes) {
  std::string shown;
  for (size_t offset = 0; offset < bytes.size();) shown += ShowNext(bytes, &offset);
  return shown;
}

std::string Quote(std::string_view bytes, int64_t characters) {
  std::string shown = "'";
  size_t offset = 0;
  for (int64_t i = 0; i < characters && offset < bytes.size(); ++i)
    shown += ShowNext(bytes, &offset);
  return shown + (offset < bytes.size() ? "...'" : "'");
}

}  // namespace midscope

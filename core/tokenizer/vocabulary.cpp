// SPDX-License-Identifier: MIT
#include "core/tokenizer/vocabulary.h"

#include <array>
#include <charconv>

namespace midscope {
namespace {

// Byte-level BPE writes each byte as a printable character (openai/gpt-2 src/encoder.py,
// bytes_to_unicode): printable Latin-1 maps to itself, the other 68 bytes to U+0100 on.
struct ByteAlphabet {
  std::array<int, 0x144> byte_of{};  // [character] -1: none

  ByteAlphabet() {
    byte_of.fill(-1);
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool itself =
          (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      byte_of.at(static_cast<size_t>(itself ? byte : next++)) = byte;
    }
  }
};

}  // namespace

std::optional<std::string> DecodeByteLevel(std::string_view token) {
  static const ByteAlphabet alphabet;
  std::string bytes;
  for (size_t i = 0; i < token.size(); ++i) {
    unsigned character = static_cast<unsigned char>(token[i]);
    // The alphabet ends at U+0143: characters of one or two bytes.
    if (character >= 0x80) {
      if ((character & 0xe0) != 0xc0 || i + 1 == token.size()) return std::nullopt;
      character = (character & 0x1f) << 6 | (static_cast<unsigned char>(token[++i]) & 0x3f);
    }
    if (character >= alphabet.byte_of.size() || alphabet.byte_of.at(character) < 0)
      return std::nullopt;
    bytes += static_cast<char>(alphabet.byte_of.at(character));
  }
  return bytes;
}

std::optional<unsigned char> ParseByteToken(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with(">")) return std::nullopt;
  const std::string_view digits = token.substr(3, 2);
  if (digits.find_first_not_of("0123456789ABCDEF") != std::string_view::npos) return std::nullopt;
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return static_cast<unsigned char>(value);
}

std::string UnmarkSpaces(std::string_view token) {
  std::string text;
  for (size_t i = 0; i < token.size();) {
    const bool mark = token.substr(i).starts_with(kSpaceMark);
    text += mark ? ' ' : token[i];
    i += mark ? kSpaceMark.size() : 1;
  }
  return text;
}

std::string MarkSpaces(std::string_view text) {
  std::string token;
  for (const char c : text) token += c == ' ' ? std::string(kSpaceMark) : std::string(1, c);
  return token;
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The tokens of a tokenizer with their properties.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// Numbered as in GGUF files and SentencePiece models.
enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

struct Vocabulary {
  std::vector<std::string> bytes;  // [token]: its bytes
  std::vector<TokenType> types;    // [token]
  std::string pre_tokenizer;       // for display
  std::string chat_template;
  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  std::optional<int32_t> unknown;
  std::vector<int32_t> begins;     // tokens that the files specify before every text
  std::vector<int32_t> ends;       // tokens that end a text, unordered, without duplicates
  std::vector<std::string> notes;  // sentences that the user must see, without the file's name
};

// Returns the bytes of `token` in byte-level BPE; nullopt if one of its characters is outside the
// alphabet (openai/gpt-2 src/encoder.py, bytes_to_unicode).
std::optional<std::string> DecodeByteLevel(std::string_view token);

// Returns the byte for "<0x0A>"; nullopt for anything but "<0x00>" to "<0xFF>" (upper case).
std::optional<unsigned char> ParseByteToken(std::string_view token);

// Returns `token` with SentencePiece's mark for spaces (U+2581) replaced by spaces.
std::string UnmarkSpaces(std::string_view token);
// The inverse of UnmarkSpaces.
std::string MarkSpaces(std::string_view text);
inline constexpr std::string_view kSpaceMark = "\xe2\x96\x81";

}  // namespace midscope

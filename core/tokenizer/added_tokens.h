// SPDX-License-Identifier: MIT
// Tokens that are found in text as they are written, before any model sees it, as Hugging Face
// `tokenizers` finds its added tokens.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct AddedToken {
  std::string text;
  int32_t id = 0;
  bool special = true;       // steers and is no text; else ordinary text that stays in one piece
  bool normalized = false;   // looked for in the text after the normaliser
  bool single_word = false;  // only where no word goes on before or behind it
  bool left_strip = false;   // takes white space before it, too
  bool right_strip = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(const std::vector<AddedToken>& tokens);

  // Of two tokens of the same text the later one counts; one without text is none.
  void Add(AddedToken token);

  bool empty() const { return tokens_.empty(); }

  // All of the text in order: next(begin, end, token), token null for what lies between. Leftmost
  // first, then longest; special ones only where parse_special.
  using Next = std::function<void(size_t begin, size_t end, const AddedToken* token)>;
  void Split(std::string_view text, bool parse_special, const Next& next) const;

 private:
  const AddedToken* Match(std::string_view text, size_t offset, bool parse_special) const;

  std::map<std::string, AddedToken, std::less<>> tokens_;
  std::bitset<256> first_bytes_;
  std::vector<size_t> lengths_;  // longest first
};

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Tokens that are matched in text literally, before the model's tokenization, as Hugging Face
// `tokenizers` matches its added tokens.
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
  bool special = true;       // a control token; else ordinary text that is not cut
  bool normalized = false;   // matched in the text after the normaliser
  bool single_word = false;  // only where no word continues before or after it
  bool left_strip = false;   // includes white space before it
  bool right_strip = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(const std::vector<AddedToken>& tokens);

  // Of duplicate texts the later token is used; a token without text is never matched.
  void Add(AddedToken token);

  bool empty() const { return tokens_.empty(); }

  // Visits all of the text in order: next(begin, end, token), token null for text between tokens.
  // Leftmost first, then longest; special ones only where parse_special.
  using Next = std::function<void(size_t begin, size_t end, const AddedToken* token)>;
  void Split(std::string_view text, bool parse_special, const Next& next) const;

 private:
  const AddedToken* Match(std::string_view text, size_t offset, bool parse_special) const;

  std::map<std::string, AddedToken, std::less<>> tokens_;
  std::bitset<256> first_bytes_;
  std::vector<size_t> lengths_;  // longest first
};

}  // namespace midscope

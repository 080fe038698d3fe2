// SPDX-License-Identifier: MIT
#include "core/tokenizer/added_tokens.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/tokenizer/unicode_text.h"

namespace midscope {
namespace {

bool StandsAlone(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !IsWord(CharacterBefore(text, begin).code)) &&
         (end == text.size() || !IsWord(CharacterAt(text, end).code));
}

// Where the white space before `begin` begins, at least `limit`.
size_t StripLeft(std::string_view text, size_t begin, size_t limit) {
  while (begin > limit) {
    const Character character = CharacterBefore(text, begin);
    if (!IsWhiteSpace(character.code)) break;
    begin -= character.length;
  }
  return begin;
}

size_t StripRight(std::string_view text, size_t end) {
  while (end < text.size()) {
    const Character character = CharacterAt(text, end);
    if (!IsWhiteSpace(character.code)) break;
    end += character.length;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& token : tokens) Add(token);
}

void AddedTokens::Add(AddedToken token) {
  if (token.text.empty()) return;
  first_bytes_.set(static_cast<unsigned char>(token.text[0]));
  const size_t length = token.text.size();
  const auto place = std::lower_bound(lengths_.begin(), lengths_.end(), length, std::greater<>());
  if (place == lengths_.end() || *place != length) lengths_.insert(place, length);
  std::string text = token.text;
  tokens_.insert_or_assign(std::move(text), std::move(token));
}

const AddedToken* AddedTokens::Match(std::string_view text, size_t offset,
                                     bool parse_special) const {
  if (!first_bytes_.test(static_cast<unsigned char>(text[offset]))) return nullptr;
  for (const size_t length : lengths_) {
    if (length > text.size() - offset) continue;
    const auto found = tokens_.find(text.substr(offset, length));
    if (found != tokens_.end() && (parse_special || !found->second.special)) return &found->second;
  }
  return nullptr;
}

void AddedTokens::Split(std::string_view text, bool parse_special, const Next& next) const {
  size_t plain = 0;  // where the text since the last token begins
  for (size_t i = 0; i < text.size();) {
    const AddedToken* token = Match(text, i, parse_special);
    if (token == nullptr) {
      ++i;
      continue;
    }
    const size_t match_end = i + token->text.size();
    // A token that must be a separate word and isn't still hides tokens that begin inside it.
    if (!token->single_word || StandsAlone(text, i, match_end)) {
      const size_t begin = token->left_strip ? StripLeft(text, i, plain) : i;
      const size_t end = token->right_strip ? StripRight(text, match_end) : match_end;
      if (plain < begin) next(plain, begin, nullptr);
      next(begin, end, token);
      plain = end;
    }
    i = std::max(match_end, plain);
  }
  if (plain < text.size()) next(plain, text.size(), nullptr);
}

}  // namespace midscope

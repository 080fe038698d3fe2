// SPDX-License-Identifier: MIT
// Tokens that are matched in text literally, before the model's tokenization, as Hugging Face
// `tokenizers` matches its added tokens.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

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

  // For duplicate texts the later token is used; a token without text is never matched.
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

// The tokens of a Hugging Face folder that are added to those of the tokenizer's own file:
// added_tokens_decoder, roles and extra tokens of tokenizer_config.json, special_tokens_map.json,
// added_tokens.json. Files have priority over each other, and new tokens get ids, as in
// `from_pretrained` of transformers 5.

class JsonFields;

// Added tokens by id. A token that the vocabulary has keeps its id, a new one gets the next, as in
// `tokenizers`; the last flags of a text are used.
class AddedTokenList {
 public:
  // The id of a text in the vocabulary of the model itself.
  using Find = std::function<std::optional<int32_t>(const std::string& text)>;
  // size: the number of tokens in that vocabulary.
  AddedTokenList(size_t size, Find find) : size_(size), find_(std::move(find)) {}

  // `stated` is the id in the file, where it has one; origin: names the file and the field. An id
  // that no file states, or another one, makes a note.
  void Add(AddedToken token, std::optional<int64_t> stated, const std::string& origin);
  bool Has(const std::string& text) const { return ids_.contains(text); }
  bool HasEqual(const AddedToken& token) const;
  const std::map<int32_t, AddedToken>& tokens() const { return tokens_; }
  // A few sentences.
  std::vector<std::string> Notes() const;

 private:
  size_t size_;
  Find find_;
  std::map<int32_t, AddedToken> tokens_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<std::string> notes_;
};

// {"content": "<s>", "special": true, "lstrip": false, ...}. Throws Error.
AddedToken ReadAddedToken(const JsonFields& fields);

struct DeclaredTokens {
  struct Role {
    std::string name;  // "bos_token"
    AddedToken token;
  };

  // The token of a role; null where no file names one.
  const AddedToken* FindRole(const std::string& name) const;
  // Adds all of them to `list`, which has the tokens of the tokenizer's own file (tokenizer.json's
  // with the ids in it, `own`).
  void AddTo(AddedTokenList* list, const std::map<int64_t, std::string>& own = {}) const;

  std::map<int64_t, AddedToken> listed;  // by the id in the file
  bool is_legacy = false;                // `listed` is added_tokens.json, behind tokenizer.json
  std::vector<Role> roles;               // in the order in which new ones get their ids
  std::vector<AddedToken> extra;         // likewise, after the roles
};

// The files' JSON; ordered: tokenizer_config.json in the file's order. Throws Error where a token
// is not written as one.
DeclaredTokens ReadDeclaredTokens(const JsonFields& config, const nlohmann::ordered_json& ordered,
                                  const JsonFields& special_tokens_map,
                                  const JsonFields& added_tokens);

}  // namespace midscope

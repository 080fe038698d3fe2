// SPDX-License-Identifier: MIT
// Tokens that are matched literally in text, before the model's tokenization, like the added tokens
// of Hugging Face `tokenizers`.
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
  bool special = true;       // a control token; else ordinary text that is never split
  bool normalized = false;   // matched in the text after normalisation
  bool single_word = false;  // matched only if no word continues before or after it
  bool left_strip = false;   // also includes the white space before it
  bool right_strip = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(const std::vector<AddedToken>& tokens);

  // If two tokens have the same text, the later one is used; a token with empty text is never
  // matched.
  void Add(AddedToken token);

  bool empty() const { return tokens_.empty(); }

  // Visits the whole text in order: next(begin, end, token), with a null token for text between
  // tokens. Matches are leftmost first, then longest; special tokens are matched only if
  // parse_special is true.
  using Next = std::function<void(size_t begin, size_t end, const AddedToken* token)>;
  void Split(std::string_view text, bool parse_special, const Next& next) const;

 private:
  const AddedToken* Match(std::string_view text, size_t offset, bool parse_special) const;

  std::map<std::string, AddedToken, std::less<>> tokens_;
  std::bitset<256> first_bytes_;
  std::vector<size_t> lengths_;  // longest first
};

// The tokens that a Hugging Face folder adds to those of the tokenizer's own file:
// added_tokens_decoder, roles and extra tokens of tokenizer_config.json, special_tokens_map.json,
// added_tokens.json. The priority of the files and the ids of new tokens are as in
// `from_pretrained` of transformers 5.

class JsonFields;

// Added tokens by id. A token in the vocabulary keeps its id, and a new one gets the next id, as in
// `tokenizers`; if a text is added repeatedly, its last flags are used.
class AddedTokenList {
 public:
  // Returns the id of a text in the model's own vocabulary.
  using Find = std::function<std::optional<int32_t>(const std::string& text)>;
  // size: number of tokens in that vocabulary.
  AddedTokenList(size_t size, Find find) : size_(size), find_(std::move(find)) {}

  // `stated`: the id in the file, if it has one; `origin`: names the file and the field. If the
  // resulting id is not stated or differs from the stated one, a note is added.
  void Add(AddedToken token, std::optional<int64_t> stated, const std::string& origin);
  bool Has(const std::string& text) const { return ids_.contains(text); }
  bool HasEqual(const AddedToken& token) const;
  const std::map<int32_t, AddedToken>& tokens() const { return tokens_; }
  // Returns notes about ids, as a few sentences.
  std::vector<std::string> Notes() const;

 private:
  size_t size_;
  Find find_;
  std::map<int32_t, AddedToken> tokens_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<std::string> notes_;
};

// Reads {"content": "<s>", "special": true, "lstrip": false, ...}. Throws Error.
AddedToken ReadAddedToken(const JsonFields& fields);

struct DeclaredTokens {
  struct Role {
    std::string name;  // "bos_token"
    AddedToken token;
  };

  // Returns the token with this role; null if no file names one.
  const AddedToken* FindRole(const std::string& name) const;
  // Adds all tokens to `list`, which must already contain those of the tokenizer's own file. `own`:
  // the tokens of tokenizer.json by id.
  void AddTo(AddedTokenList* list, const std::map<int64_t, std::string>& own = {}) const;

  std::map<int64_t, AddedToken> listed;  // keyed by the id in the file
  bool is_legacy = false;                // `listed` is from added_tokens.json, after tokenizer.json
  std::vector<Role> roles;               // in the order in which new tokens get their ids
  std::vector<AddedToken> extra;         // likewise, after the roles
};

// Reads the files' JSON. `ordered`: tokenizer_config.json with keys in the file's order. Throws
// Error if a value does not have the form of a token.
DeclaredTokens ReadDeclaredTokens(const JsonFields& config, const nlohmann::ordered_json& ordered,
                                  const JsonFields& special_tokens_map,
                                  const JsonFields& added_tokens);

}  // namespace midscope

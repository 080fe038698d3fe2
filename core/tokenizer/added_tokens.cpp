// SPDX-License-Identifier: MIT
#include "core/tokenizer/added_tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {

namespace {

bool IsWholeWord(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !IsWord(CharacterBefore(text, begin).code)) &&
         (end == text.size() || !IsWord(CharacterAt(text, end).code));
}

// Returns the beginning of the white space before `begin`, but at least `limit`.
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
  size_t plain = 0;  // beginning of the text since the last token
  for (size_t i = 0; i < text.size();) {
    const AddedToken* token = Match(text, i, parse_special);
    if (token == nullptr) {
      ++i;
      continue;
    }
    const size_t match_end = i + token->text.size();
    // A token that must be a separate word but is not still hides tokens that begin inside it.
    if (!token->single_word || IsWholeWord(text, i, match_end)) {
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

namespace {

constexpr std::array<const char*, 7> kRoles = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};
constexpr const char* kExtra = "extra_special_tokens";
constexpr const char* kAdditional = "additional_special_tokens";

bool IsRole(const std::string& key) {
  return std::find(kRoles.begin(), kRoles.end(), key) != kRoles.end();
}

auto Flags(const AddedToken& token) {
  return std::tie(token.text, token.special, token.normalized, token.single_word, token.left_strip,
                  token.right_strip);
}

AddedToken Special(std::string text) { return {std::move(text)}; }

// Reads a special token, given as its text or as an object that contains it.
AddedToken ReadSpecial(const nlohmann::json& value, const JsonFields& file,
                       const std::string& key) {
  if (value.is_string()) return Special(value.get<std::string>());
  AddedToken token = ReadAddedToken({value, file.thing(), key});
  token.special = true;
  return token;
}

// "added_tokens_decoder": {"32000": {"content": ..., "special": ...}}
std::map<int64_t, AddedToken> ReadDecoder(const JsonFields& config) {
  std::map<int64_t, AddedToken> tokens;
  const nlohmann::json& entries = config.Need("added_tokens_decoder");
  if (!entries.is_object()) config.Fail("has an 'added_tokens_decoder' that is not an object");
  for (const auto& [number, entry] : entries.items()) {
    const JsonFields fields(entry, config.thing(), "added token " + Quote(number));
    int32_t id = -1;
    const char* end = number.data() + number.size();
    if (std::from_chars(number.data(), end, id).ptr != end || number.empty() || id < 0)
      fields.Fail("has no token id");
    tokens.emplace(id, ReadAddedToken(fields));
  }
  return tokens;
}

class DeclaredTokensReader {
 public:
  // The roles and extra tokens of tokenizer_config.json.
  void ReadConfig(const JsonFields& config, const nlohmann::ordered_json& ordered) {
    for (const char* role : kRoles) ReadRole(config, role);
    for (const auto& [key, value] : ordered.items()) {
      if (IsRole(key) || !key.ends_with("_token")) continue;
      if (value.is_string() || value.is_object()) ReadRole(config, key);
    }
    const nlohmann::json* extra = config.Find(kExtra);
    // Names of a model's other tokens, such as those for images.
    if (extra != nullptr && extra->is_object()) {
      for (const auto& [name, value] : ordered.at(kExtra).items())
        SetRole(name, ReadSpecial(extra->at(name), config, kExtra));
      extra = nullptr;
    }
    ReadExtra(config, extra != nullptr && !extra->empty() ? kExtra : kAdditional);
  }

  // For older files: special_tokens_map.json has priority over tokenizer_config.json.
  void ReadMap(const JsonFields& map) {
    for (const auto& [key, value] : map.json().items()) {
      if (key.ends_with("_token")) ReadRole(map, key);
    }
    if (made_.extra.empty()) ReadExtra(map, map.Find(kExtra) != nullptr ? kExtra : kAdditional);
  }

  bool has_extra() const { return !made_.extra.empty(); }

  // Returns the tokens, with the roles that every tokenizer has first.
  DeclaredTokens Take() {
    std::stable_sort(made_.roles.begin(), made_.roles.end(), [](const auto& a, const auto& b) {
      return std::find(kRoles.begin(), kRoles.end(), a.name) <
             std::find(kRoles.begin(), kRoles.end(), b.name);
    });
    return std::move(made_);
  }

 private:
  void SetRole(const std::string& name, AddedToken token) {
    if (token.text.empty()) return;
    for (DeclaredTokens::Role& role : made_.roles) {
      if (role.name != name) continue;
      role.token = std::move(token);
      return;
    }
    made_.roles.push_back({name, std::move(token)});
  }

  void ReadRole(const JsonFields& file, const std::string& name) {
    const nlohmann::json* value = file.Find(name);
    if (value != nullptr) SetRole(name, ReadSpecial(*value, file, name));
  }

  void ReadExtra(const JsonFields& file, const char* key) {
    const nlohmann::json* list = file.Find(key);
    if (list == nullptr || !list->is_array()) return;
    for (const nlohmann::json& value : *list) made_.extra.push_back(ReadSpecial(value, file, key));
  }

  DeclaredTokens made_;
};

}  // namespace

AddedToken ReadAddedToken(const JsonFields& fields) {
  AddedToken token;
  token.text = fields.Text("content");
  token.special = fields.Flag("special", false);
  token.normalized = fields.Flag("normalized", !token.special);
  token.single_word = fields.Flag("single_word", false);
  token.left_strip = fields.Flag("lstrip", false);
  token.right_strip = fields.Flag("rstrip", false);
  return token;
}

bool AddedTokenList::HasEqual(const AddedToken& token) const {
  const auto known = ids_.find(token.text);
  return known != ids_.end() && Flags(tokens_.at(known->second)) == Flags(token);
}

void AddedTokenList::Add(AddedToken token, std::optional<int64_t> stated,
                         const std::string& origin) {
  if (token.text.empty()) return;
  const auto known = ids_.find(token.text);
  std::optional<int32_t> id = known != ids_.end() ? known->second : find_(token.text);
  if (!id) {
    const auto size = static_cast<int32_t>(size_);
    const bool beyond = !tokens_.empty() && (tokens_.rbegin()->first >= size || size == 0);
    id = beyond ? tokens_.rbegin()->first + 1 : size;
    if (!stated) {
      notes_.push_back(
          fmt::format("{} names {}, which is not in the vocabulary: it gets the id {}, as in "
                      "transformers",
                      origin, Quote(token.text), *id));
    }
  }
  if (stated && *stated != *id) {
    notes_.push_back(fmt::format("{} gives {} the id {}; its id is {}, as in transformers", origin,
                                 Quote(token.text), *stated, *id));
  }
  token.id = *id;
  ids_.insert_or_assign(token.text, *id);
  tokens_.insert_or_assign(*id, std::move(token));
}

std::vector<std::string> AddedTokenList::Notes() const {
  constexpr size_t kMost = 4;
  if (notes_.size() <= kMost) return notes_;
  std::vector<std::string> first(notes_.begin(), notes_.begin() + kMost);
  first.push_back(fmt::format("so do {} more tokens", notes_.size() - kMost));
  return first;
}

const AddedToken* DeclaredTokens::FindRole(const std::string& name) const {
  const auto found =
      std::find_if(roles.begin(), roles.end(), [&](const Role& role) { return role.name == name; });
  return found == roles.end() ? nullptr : &found->token;
}

void DeclaredTokens::AddTo(AddedTokenList* list, const std::map<int64_t, std::string>& own) const {
  for (const auto& [id, token] : listed) {
    if ((is_legacy && own.contains(id)) || list->HasEqual(token)) continue;
    AddedToken added = token;
    for (const Role& role : roles) added.special = added.special || role.token.text == token.text;
    list->Add(std::move(added), id, is_legacy ? "added_tokens.json" : "tokenizer_config.json");
  }
  // If a new text has several roles, the last one's flags are used.
  const AddedTokenList before = *list;
  for (const Role& role : roles) {
    if (!before.Has(role.token.text)) list->Add(role.token, std::nullopt, Quote(role.name));
  }
  for (const AddedToken& token : extra) {
    if (!before.Has(token.text)) list->Add(token, std::nullopt, kExtra);
  }
}

DeclaredTokens ReadDeclaredTokens(const JsonFields& config, const nlohmann::ordered_json& ordered,
                                  const JsonFields& special_tokens_map,
                                  const JsonFields& added_tokens) {
  DeclaredTokensReader reader;
  reader.ReadConfig(config, ordered);
  if (config.Find("added_tokens_decoder") != nullptr) {
    DeclaredTokens made = reader.Take();
    made.listed = ReadDecoder(config);
    return made;
  }
  // transformers has not yet joined these with the extra tokens when it reads added_tokens.json.
  const bool later = !reader.has_extra() && special_tokens_map.Find(kExtra) == nullptr;
  reader.ReadMap(special_tokens_map);
  DeclaredTokens made = reader.Take();
  made.is_legacy = true;
  // Entries such as {"<pad>": 32000}.
  for (const auto& [text, number] : added_tokens.json().items()) {
    const bool special =
        std::any_of(
            made.roles.begin(), made.roles.end(),
            [&](const auto& role) { return IsRole(role.name) && role.token.text == text; }) ||
        (!later && std::any_of(made.extra.begin(), made.extra.end(),
                               [&](const AddedToken& token) { return token.text == text; }));
    made.listed.insert_or_assign(added_tokens.Id(number, Quote(text)),
                                 AddedToken{text, 0, special, !special});
  }
  return made;
}

}  // namespace midscope

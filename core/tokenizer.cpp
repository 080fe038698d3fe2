// SPDX-License-Identifier: MIT
#include "core/tokenizer.h"

#include <algorithm>
#include <bitset>
#include <functional>
#include <unordered_map>
#include <utility>

#include "core/byte_pair_encoding.h"
#include "core/error.h"
#include "core/pre_tokenizer.h"
#include "core/utf8.h"
#include "core/vocabulary.h"

namespace midscope {
namespace {

// Finds special tokens written out in text.
class SpecialTokens {
 public:
  explicit SpecialTokens(std::map<std::string, int32_t, std::less<>> ids) : ids_(std::move(ids)) {
    for (const auto& [text, id] : ids_) {
      first_bytes_.set(static_cast<unsigned char>(text[0]));
      lengths_.push_back(text.size());
    }
    std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
    lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
  }

  // The longest that begins at text[offset] and that `wanted` accepts.
  template <typename Wanted>
  std::optional<Token> Match(std::string_view text, size_t offset, const Wanted& wanted) const {
    if (!first_bytes_.test(static_cast<unsigned char>(text[offset]))) return std::nullopt;
    for (const size_t length : lengths_) {
      if (length > text.size() - offset) continue;
      const auto found = ids_.find(text.substr(offset, length));
      if (found == ids_.end() || !wanted(found->second)) continue;
      const auto begin = static_cast<int64_t>(offset);
      return Token{found->second, begin, begin + static_cast<int64_t>(length)};
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, int32_t, std::less<>> ids_;
  std::bitset<256> first_bytes_;
  std::vector<size_t> lengths_;  // longest first
};

}  // namespace

struct Tokenizer::Parts {
  Vocabulary vocabulary;
  PreTokenizer pre_tokenizer;
  BytePairEncoding encoding;
  SpecialTokens special;
  // Tokens by their bytes, for schemes that ignore merges where a piece is a token; else empty.
  std::unordered_map<std::string_view, int32_t> whole_pieces;

  explicit Parts(Vocabulary read)
      : vocabulary(std::move(read)),
        pre_tokenizer(vocabulary.pre_tokenizer),
        encoding(vocabulary.byte_tokens, vocabulary.merges),
        special(vocabulary.special) {
    if (!pre_tokenizer.ignores_merges()) return;
    for (size_t id = 0; id < vocabulary.bytes.size(); ++id) {
      if (vocabulary.types[id] != TokenType::kNormal) continue;
      whole_pieces.emplace(vocabulary.bytes[id], static_cast<int32_t>(id));
    }
  }

  void CheckId(int32_t id) const {
    if (id >= 0 && static_cast<size_t>(id) < vocabulary.bytes.size()) return;
    throw Failure(
        "token id " + std::to_string(id),
        "outside the vocabulary of " + std::to_string(vocabulary.bytes.size()) + " tokens");
  }

  // Appends the tokens of text[begin, end), which holds no special token.
  void EncodePlain(std::string_view text, size_t begin, size_t end,
                   std::vector<Token>* tokens) const {
    if (begin == end) return;
    pre_tokenizer.Split(text.substr(begin, end - begin), [&](size_t from, size_t to) {
      const std::string_view piece = text.substr(begin + from, to - from);
      const auto offset = static_cast<int64_t>(begin + from);
      const auto whole = whole_pieces.find(piece);
      if (whole == whole_pieces.end()) {
        encoding.Encode(piece, offset, tokens);
      } else {
        tokens->push_back({whole->second, offset, offset + static_cast<int64_t>(piece.size())});
      }
    });
  }
};

Tokenizer::Tokenizer(const GgufFile& file)
    : parts_(std::make_unique<const Parts>(ReadVocabulary(file))) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

std::vector<Token> Tokenizer::Encode(std::string_view text, bool parse_special) const {
  CheckUtf8("text", text);
  const auto wanted = [&](int32_t id) {
    return parse_special ||
           parts_->vocabulary.types[static_cast<size_t>(id)] == TokenType::kUserDefined;
  };
  std::vector<Token> tokens;
  size_t plain = 0;  // where the text since the last special token begins
  for (size_t i = 0; i < text.size();) {
    const auto special = parts_->special.Match(text, i, wanted);
    if (!special) {
      ++i;
      continue;
    }
    parts_->EncodePlain(text, plain, i, &tokens);
    tokens.push_back(*special);
    i = plain = static_cast<size_t>(special->byte_end);
  }
  parts_->EncodePlain(text, plain, text.size(), &tokens);
  return tokens;
}

std::vector<int32_t> Tokenizer::EncodeIds(std::string_view text, bool parse_special) const {
  std::vector<int32_t> ids;
  for (const Token& token : Encode(text, parse_special)) ids.push_back(token.id);
  return ids;
}

int64_t Tokenizer::BytesWithoutToken(std::string_view text, std::span<const Token> tokens) const {
  auto bytes = static_cast<int64_t>(text.size());
  for (const Token& token : tokens) bytes -= static_cast<int64_t>(TokenText(token.id).size());
  return bytes;
}

std::string Tokenizer::Decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += TokenText(id);
  return text;
}

std::string_view Tokenizer::TokenText(int32_t id) const {
  parts_->CheckId(id);
  return parts_->vocabulary.bytes[static_cast<size_t>(id)];
}

std::optional<int32_t> Tokenizer::SingleToken(std::string_view text) const {
  const std::vector<Token> tokens = Encode(text);
  if (tokens.size() != 1 || TokenText(tokens[0].id) != text) return std::nullopt;
  return tokens[0].id;
}

bool Tokenizer::IsControl(int32_t id) const {
  parts_->CheckId(id);
  return parts_->vocabulary.types[static_cast<size_t>(id)] == TokenType::kControl;
}

int64_t Tokenizer::vocabulary() const {
  return static_cast<int64_t>(parts_->vocabulary.bytes.size());
}
std::optional<int32_t> Tokenizer::bos_id() const { return parts_->vocabulary.bos; }
std::optional<int32_t> Tokenizer::eos_id() const { return parts_->vocabulary.eos; }
std::optional<int32_t> Tokenizer::unknown_id() const { return parts_->vocabulary.unknown; }
bool Tokenizer::add_bos() const { return parts_->vocabulary.add_bos; }
const std::string& Tokenizer::pre_tokenizer_name() const {
  return parts_->vocabulary.pre_tokenizer;
}
const std::string& Tokenizer::chat_template() const { return parts_->vocabulary.chat_template; }

}  // namespace midscope

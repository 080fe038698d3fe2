// SPDX-License-Identifier: MIT
#include "core/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {
namespace {

bool Holds(const Vocabulary& vocabulary, int32_t id) {
  return id >= 0 && static_cast<size_t>(id) < vocabulary.bytes.size();
}

}  // namespace

Tokenizer::Tokenizer(const GgufFile& file) : Tokenizer(ReadGgufTokenizer(file)) {}
Tokenizer::Tokenizer(TokenizerParts parts)
    : parts_(std::make_unique<const TokenizerParts>(std::move(parts))) {}
Tokenizer Tokenizer::FromFolder(const std::filesystem::path& folder) {
  return Tokenizer(ReadTokenizerFolder(folder));
}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

void Tokenizer::CheckRows(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) {
    if (id < rows_) continue;
    throw Failure(
        "token " + Quote(TokenText(id)),
        fmt::format("its id {} exceeds those of the model's {} embedding rows", id, rows_),
        "Leave it out of the text: the model was never trained with it");
  }
}

std::vector<Token> Tokenizer::Encode(std::string_view text, bool parse_special) const {
  std::vector<Token> tokens = EncodeAll(text, parse_special);
  if (vocabulary() <= rows_) return tokens;
  for (const Token& token : tokens) CheckRows({&token.id, 1});
  return tokens;
}

std::vector<Token> Tokenizer::EncodeAll(std::string_view text, bool parse_special) const {
  CheckUtf8("text", text);
  std::vector<Token> tokens;
  parts_->added.Split(text, parse_special, [&](size_t begin, size_t end, const AddedToken* token) {
    if (token == nullptr) {
      EncodePlain(text, begin, end, parse_special, &tokens);
    } else {
      tokens.push_back({token->id, static_cast<int64_t>(begin), static_cast<int64_t>(end)});
    }
  });
  return tokens;
}

// Appends the tokens of text[begin, end), which contains no literally matched token.
void Tokenizer::EncodePlain(std::string_view text, size_t begin, size_t end, bool parse_special,
                            std::vector<Token>* tokens) const {
  AlignedText prepared(std::string(text.substr(begin, end - begin)), static_cast<int64_t>(begin));
  parts_->normalizer.Apply(&prepared);
  const auto encode = [&](const AlignedText& changed, size_t from, size_t to) {
    const size_t first = tokens->size();
    parts_->model->Encode(changed.text().substr(from, to - from), changed.OriginalBegin(from) == 0,
                          tokens);
    for (size_t i = first; i < tokens->size(); ++i) {
      Token& token = (*tokens)[i];
      const size_t token_end = from + static_cast<size_t>(token.byte_end);
      token.byte_begin = changed.OriginalBegin(from + static_cast<size_t>(token.byte_begin));
      token.byte_end = std::max(token.byte_begin, changed.OriginalEnd(token_end));
    }
  };
  parts_->added_normalized.Split(
      prepared.text(), parse_special, [&](size_t from, size_t to, const AddedToken* token) {
        if (token == nullptr) {
          parts_->pre_tokenizer.Split(prepared, from, to, encode);
        } else {
          tokens->push_back({token->id, prepared.OriginalBegin(from), prepared.OriginalEnd(to)});
        }
      });
}

std::vector<int32_t> Tokenizer::EncodeIds(std::string_view text, bool parse_special) const {
  std::vector<int32_t> ids;
  for (const Token& token : Encode(text, parse_special)) ids.push_back(token.id);
  return ids;
}

int64_t Tokenizer::BytesWithoutToken(std::string_view text, std::span<const Token> tokens) const {
  auto bytes = static_cast<int64_t>(text.size());
  if (parts_->exact) {
    for (const Token& token : tokens) bytes -= static_cast<int64_t>(TokenText(token.id).size());
    return bytes;
  }
  int64_t covered = 0;  // bytes before this offset were counted
  for (const Token& token : tokens) {
    const int64_t begin = std::max(token.byte_begin, covered);
    if (token.byte_end <= begin) continue;
    if (token.id != unknown_id()) bytes -= token.byte_end - begin;
    covered = token.byte_end;
  }
  return bytes;
}

std::string Tokenizer::Decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += TokenText(id);
  return text;
}

std::string Tokenizer::DecodeText(std::span<const int32_t> ids) const {
  std::string text;
  std::string bytes;  // bytes of consecutive byte tokens
  const auto flush = [&] {
    if (FindInvalidUtf8(bytes)) {
      for (size_t i = 0; i < bytes.size(); ++i) text += "\xEF\xBF\xBD";
    } else {
      text += bytes;
    }
    bytes.clear();
  };
  for (const int32_t id : ids) {
    if (!Holds(parts_->vocabulary, id)) continue;
    const TokenType type = parts_->vocabulary.types[static_cast<size_t>(id)];
    if (type == TokenType::kControl || type == TokenType::kUnknown) continue;
    if (type == TokenType::kByte) {
      bytes += TokenText(id);
    } else {
      flush();
      text += TokenText(id);
    }
  }
  flush();
  return ReplaceInvalidUtf8(text);
}

std::string_view Tokenizer::TokenText(int32_t id) const {
  if (!Holds(parts_->vocabulary, id)) return {};
  return parts_->vocabulary.bytes[static_cast<size_t>(id)];
}

std::optional<int32_t> Tokenizer::SingleToken(std::string_view text) const {
  const std::vector<Token> tokens = EncodeAll(text, true);
  if (tokens.size() != 1 || tokens[0].id >= rows_ || TokenText(tokens[0].id) != text)
    return std::nullopt;
  return tokens[0].id;
}

bool Tokenizer::IsControl(int32_t id) const {
  return Holds(parts_->vocabulary, id) &&
         parts_->vocabulary.types[static_cast<size_t>(id)] == TokenType::kControl;
}

int64_t Tokenizer::vocabulary() const {
  return static_cast<int64_t>(parts_->vocabulary.bytes.size());
}
std::optional<int32_t> Tokenizer::bos_id() const { return parts_->vocabulary.bos; }
std::optional<int32_t> Tokenizer::eos_id() const { return parts_->vocabulary.eos; }
std::optional<int32_t> Tokenizer::unknown_id() const { return parts_->vocabulary.unknown; }
const std::vector<int32_t>& Tokenizer::end_ids() const { return parts_->vocabulary.ends; }
bool Tokenizer::add_bos() const { return !parts_->vocabulary.begins.empty(); }
std::vector<int32_t> Tokenizer::begin_ids() const {
  if (add_bos() || !bos_id()) return parts_->vocabulary.begins;
  return {*bos_id()};
}
const std::vector<std::string>& Tokenizer::notes() const { return parts_->vocabulary.notes; }
const std::string& Tokenizer::pre_tokenizer_name() const {
  return parts_->vocabulary.pre_tokenizer;
}
const std::string& Tokenizer::chat_template() const { return parts_->vocabulary.chat_template; }

}  // namespace midscope

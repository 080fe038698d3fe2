// SPDX-License-Identifier: MIT
// Text to token ids and back, from the model file's own vocabulary: byte-pair encoding (of bytes,
// or SentencePiece's with byte fallback) and Unigram, with the same ids as Hugging Face
// `tokenizers` and SentencePiece give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

class GgufFile;
struct TokenizerParts;

struct Token {
  int32_t id = 0;
  int64_t byte_begin = 0;  // bytes [byte_begin, byte_end) of the text
  int64_t byte_end = 0;
};

// Immutable once made: may be used by several threads at once. Keeps nothing of the file.
class Tokenizer {
 public:
  // Throws Error for a tokenizer model or pre-tokenizer that can't be reproduced, and for a
  // vocabulary that contradicts itself.
  explicit Tokenizer(const GgufFile& file);
  // A Hugging Face folder: tokenizer.json, else tokenizer.model, with what tokenizer_config.json,
  // special_tokens_map.json, chat_template.jinja, generation_config.json say. Throws Error naming a
  // component that is not known: never an approximation.
  static Tokenizer FromFolder(const std::filesystem::path& folder);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // The tokens of the whole text, in order. Special tokens written out in the text ("<|im_start|>")
  // become themselves, leftmost and longest first; with parse_special false, control tokens are
  // ordinary text. Nothing is added (no BOS). Throws Error with the byte offset where the text is
  // not UTF-8. A byte for which the vocabulary has no token gets none, as in `tokenizers`: see
  // BytesWithoutToken. Where text is changed before it is cut (normal forms, a space put in), a
  // token's range is that of the bytes it comes from.
  std::vector<Token> Encode(std::string_view text, bool parse_special = true) const;
  std::vector<int32_t> EncodeIds(std::string_view text, bool parse_special = true) const;

  // How many bytes of the text are lost in these tokens of it: without a token, or in the unknown
  // one. Where text is not changed before it is cut, 0 means that Decode gives the text back.
  // SmolLM2 has no token for six control characters and for the lead bytes of unassigned planes.
  // Whoever shows or stores ids says so when this is not 0.
  int64_t BytesWithoutToken(std::string_view text, std::span<const Token> tokens) const;

  // The exact bytes of the tokens, one after the other: a tokenizer that puts a space before text
  // gives that space, too. Ids that no token has are no text, as in `tokenizers`: many models have
  // more rows of embeddings than their tokenizer has tokens, and may give such an id out.
  std::string Decode(std::span<const int32_t> ids) const;

  // Bytes of one token (perhaps a part of a character), empty for an id that no token has; valid
  // as long as the tokenizer.
  std::string_view TokenText(int32_t id) const;

  // The id where the text is exactly one token.
  std::optional<int32_t> SingleToken(std::string_view text) const;

  // Tokens that steer (such as <|im_end|>) and are no text.
  bool IsControl(int32_t id) const;

  int64_t vocabulary() const;
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  std::optional<int32_t> unknown_id() const;
  // Tokens that end a text: eos and what else the files name as such.
  const std::vector<int32_t>& end_ids() const;
  // Whether the file asks for BOS before every text. Encode never adds it.
  bool add_bos() const;
  const std::string& pre_tokenizer_name() const;  // "smollm", "tokenizer.json", "sentencepiece"
  const std::string& chat_template() const;       // Jinja text; empty where the file has none

 private:
  explicit Tokenizer(TokenizerParts parts);
  void EncodePlain(std::string_view text, size_t begin, size_t end, bool parse_special,
                   std::vector<Token>* tokens) const;

  std::unique_ptr<const TokenizerParts> parts_;
};

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Converts text to token ids and back with the model file's own vocabulary. Supports byte-pair
// encoding (of bytes, or SentencePiece's with byte fallback) and Unigram, and gives the same ids as
// Hugging Face `tokenizers` and SentencePiece.
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

// Immutable (except for SetRows) and thread-safe. Does not refer to the file.
class Tokenizer {
 public:
  // Throws Error for a tokenizer model or pre-tokenizer that cannot be reproduced, and for an
  // inconsistent vocabulary.
  explicit Tokenizer(const GgufFile& file);
  // Reads a Hugging Face folder: tokenizer.json, else tekken.json or tokenizer.model, with the
  // settings of tokenizer_config.json, special_tokens_map.json, chat_template.jinja,
  // generation_config.json. Throws Error naming an unknown component; it never approximates one.
  static Tokenizer FromFolder(const std::filesystem::path& folder);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // Sets the model's number of embedding rows. The tokenizer may have more tokens; encoding a text
  // that contains one of these is then an error. Must not be called while another thread encodes.
  void SetRows(int64_t rows) { rows_ = rows; }
  // Throws Error naming the first token that has no embedding row.
  void CheckRows(std::span<const int32_t> ids) const;

  // Returns the tokens of the whole text, in order. Special tokens written in the text
  // ("<|im_start|>") become one token, leftmost and longest first; if parse_special is false,
  // control tokens are ordinary text. Adds nothing (no BOS). Throws Error if the text is not UTF-8
  // (with the byte offset), and for a token without an embedding row (SetRows). A byte without a
  // token in the vocabulary gets none, as in `tokenizers`: see BytesWithoutToken. If text is
  // changed before it is split (normal forms, an added space), a token's range is that of its
  // original bytes.
  std::vector<Token> Encode(std::string_view text, bool parse_special = true) const;
  std::vector<int32_t> EncodeIds(std::string_view text, bool parse_special = true) const;

  // Returns the number of bytes of the text that its tokens do not represent: bytes without a
  // token, or in the unknown token. If text is not changed before it is split, 0 means that Decode
  // returns the text. SmolLM2 has no token for six control characters and for the lead bytes of
  // unassigned planes. If the result is not 0, a warning must be shown.
  int64_t BytesWithoutToken(std::string_view text, std::span<const Token> tokens) const;

  // Returns the exact bytes of the tokens, concatenated, including a space that the tokenizer adds
  // before text. Ids without a token are ignored, as in `tokenizers`: many models have more
  // embedding rows than tokens, and may output such an id.
  std::string Decode(std::span<const int32_t> ids) const;

  // Like decode(ids, skip_special_tokens=True) of transformers, except for a space that the
  // tokenizer adds before text: omits special tokens, and replaces invalid UTF-8 by U+FFFD. If
  // consecutive byte tokens ("<0xE2>") together are not UTF-8, each is replaced.
  std::string DecodeText(std::span<const int32_t> ids) const;

  // Returns the bytes of one token (possibly part of a character); empty for an id without a token.
  // Valid as long as the tokenizer exists.
  std::string_view TokenText(int32_t id) const;

  // Returns the id if the text is exactly one token and that token has an embedding row.
  std::optional<int32_t> SingleToken(std::string_view text) const;

  // Whether the token is a control token (such as <|im_end|>), which is not text.
  bool IsControl(int32_t id) const;

  int64_t vocabulary() const;
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  std::optional<int32_t> unknown_id() const;
  // Returns the tokens that end a text: eos, others that the files name, and known end-of-turn
  // tokens.
  const std::vector<int32_t>& end_ids() const;
  // Whether the files specify tokens before every text. Encode never adds them.
  bool add_bos() const;
  // Returns the tokens at the beginning of a text: those that the files specify, else BOS; empty if
  // the model has neither.
  std::vector<int32_t> begin_ids() const;
  // Returns sentences for the user about gaps and contradictions in the files, and how they were
  // resolved.
  const std::vector<std::string>& notes() const;
  const std::string& pre_tokenizer_name() const;  // "smollm", "tokenizer.json", "sentencepiece"
  const std::string& chat_template() const;       // Jinja template; empty if the file has none

 private:
  explicit Tokenizer(TokenizerParts parts);
  std::vector<Token> EncodeAll(std::string_view text, bool parse_special) const;
  void EncodePlain(std::string_view text, size_t begin, size_t end, bool parse_special,
                   std::vector<Token>* tokens) const;

  std::unique_ptr<const TokenizerParts> parts_;
  int64_t rows_ = INT64_MAX;
};

}  // namespace midscope

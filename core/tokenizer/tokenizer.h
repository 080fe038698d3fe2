// SPDX-License-Identifier: MIT
// Converts text to token ids and back with the model file's own vocabulary: byte-pair encoding (of
// bytes, or SentencePiece's with byte fallback) and Unigram, with the same ids as Hugging Face
// `tokenizers` and SentencePiece.
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

// Immutable and thread-safe. Does not refer to the file.
class Tokenizer {
 public:
  // Throws Error for a tokenizer model or pre-tokenizer that can't be reproduced, and for an
  // inconsistent vocabulary.
  explicit Tokenizer(const GgufFile& file);
  // A Hugging Face folder: tokenizer.json, else tekken.json or tokenizer.model, with the settings
  // of tokenizer_config.json, special_tokens_map.json, chat_template.jinja, generation_config.json.
  // Throws Error naming an unknown component: it never approximates one.
  static Tokenizer FromFolder(const std::filesystem::path& folder);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // Sets the number of embedding rows of the model. A tokenizer may have more tokens: from then on
  // a text with one of these is an error. Must not be called while another thread encodes.
  void SetRows(int64_t rows) { rows_ = rows; }
  // Throws Error naming the first token that has no embedding row.
  void CheckRows(std::span<const int32_t> ids) const;

  // The tokens of the whole text, in order. Special tokens written in the text ("<|im_start|>")
  // become one token, leftmost and longest first; with parse_special false, control tokens are
  // ordinary text. Adds nothing (no BOS). Throws Error with the byte offset where the text is not
  // UTF-8, and for a token without an embedding row (SetRows). A byte without a token in the
  // vocabulary gets none, as in `tokenizers`: see BytesWithoutToken. Where text is changed before
  // it is cut (normal forms, an added space), a token's range is that of its original bytes.
  std::vector<Token> Encode(std::string_view text, bool parse_special = true) const;
  std::vector<int32_t> EncodeIds(std::string_view text, bool parse_special = true) const;

  // Number of bytes of the text that its tokens do not represent: without a token, or in the
  // unknown one. Where text is not changed before it is cut, 0 means that Decode returns the text.
  // SmolLM2 has no token for six control characters and for the lead bytes of unassigned planes. A
  // warning must be shown where this is not 0.
  int64_t BytesWithoutToken(std::string_view text, std::span<const Token> tokens) const;

  // The exact bytes of the tokens, concatenated: includes a space that the tokenizer adds before
  // text. Ids without a token are ignored, as in `tokenizers`: many models have more rows of
  // embeddings than tokens, and may output such an id.
  std::string Decode(std::span<const int32_t> ids) const;

  // As decode(ids, skip_special_tokens=True) of transformers, except for a space that the tokenizer
  // adds before text: without special tokens, and with invalid UTF-8 replaced by U+FFFD. If
  // consecutive byte tokens ("<0xE2>") are not UTF-8 together, each is replaced.
  std::string DecodeText(std::span<const int32_t> ids) const;

  // Bytes of one token (possibly part of a character), empty for an id without a token; valid as
  // long as the tokenizer.
  std::string_view TokenText(int32_t id) const;

  // The id, if the text is exactly one token, which has an embedding row.
  std::optional<int32_t> SingleToken(std::string_view text) const;

  // Control tokens (such as <|im_end|>), which are not text.
  bool IsControl(int32_t id) const;

  int64_t vocabulary() const;
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  std::optional<int32_t> unknown_id() const;
  // Tokens that end a text: eos, others that the files name, known ends of turns.
  const std::vector<int32_t>& end_ids() const;
  // Whether the files put tokens before every text. Encode never adds them.
  bool add_bos() const;
  // The tokens at the beginning of a text: those that the files put there, else BOS; empty where
  // the model has neither.
  std::vector<int32_t> begin_ids() const;
  // Gaps and contradictions in the files, and how they were resolved: sentences for the user.
  const std::vector<std::string>& notes() const;
  const std::string& pre_tokenizer_name() const;  // "smollm", "tokenizer.json", "sentencepiece"
  const std::string& chat_template() const;       // Jinja text; empty where the file has none

 private:
  explicit Tokenizer(TokenizerParts parts);
  std::vector<Token> EncodeAll(std::string_view text, bool parse_special) const;
  void EncodePlain(std::string_view text, size_t begin, size_t end, bool parse_special,
                   std::vector<Token>* tokens) const;

  std::unique_ptr<const TokenizerParts> parts_;
  int64_t rows_ = INT64_MAX;
};

}  // namespace midscope

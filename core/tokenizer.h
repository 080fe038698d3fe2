// SPDX-License-Identifier: MIT
// Text to token ids and back, from the model file's own vocabulary: byte-level byte-pair encoding,
// as Hugging Face `tokenizers` does it (the same ids), with the pre-tokenizer that the file names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

class GgufFile;

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
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // The tokens of the whole text, in order. Special tokens written out in the text ("<|im_start|>")
  // become themselves, leftmost and longest first; with parse_special false, control tokens are
  // ordinary text. Nothing is added (no BOS). Throws Error with the byte offset where the text is
  // not UTF-8. A byte for which the vocabulary has no token gets none, as in `tokenizers`: see
  // BytesWithoutToken.
  std::vector<Token> Encode(std::string_view text, bool parse_special = true) const;
  std::vector<int32_t> EncodeIds(std::string_view text, bool parse_special = true) const;

  // How many bytes of the text are lost in these tokens of it: 0 where Decode gives the text back.
  // SmolLM2 has no token for six control characters and for the lead bytes of unassigned planes.
  // Whoever shows or stores ids says so when this is not 0.
  int64_t BytesWithoutToken(std::string_view text, std::span<const Token> tokens) const;

  // The exact bytes of the tokens, one after the other. Throws Error for an id outside the
  // vocabulary.
  std::string Decode(std::span<const int32_t> ids) const;

  // Bytes of one token (perhaps a part of a character); valid as long as the tokenizer. Throws
  // Error for an unknown id.
  std::string_view TokenText(int32_t id) const;

  // The id where the text is exactly one token.
  std::optional<int32_t> SingleToken(std::string_view text) const;

  // Tokens that steer (such as <|im_end|>) and are no text.
  bool IsControl(int32_t id) const;

  int64_t vocabulary() const;
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  std::optional<int32_t> unknown_id() const;
  // Whether the file asks for BOS before every text. Encode never adds it.
  bool add_bos() const;
  const std::string& pre_tokenizer_name() const;  // "smollm"
  const std::string& chat_template() const;       // Jinja text; empty where the file has none

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace midscope

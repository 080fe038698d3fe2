// SPDX-License-Identifier: MIT
// The parts of a tokenizer, for any file format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/pre_tokenizer.h"
#include "core/tokenizer/vocabulary.h"

namespace midscope {

// The interface of models that split a piece of text into tokens.

struct Token;

// Immutable and thread-safe.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the tokens of `piece` (UTF-8, not empty), whose ranges are bytes of the piece.
  // at_text_begin: whether the piece is at the beginning of the text. Throws Error for text without
  // a token if the model has no unknown token.
  virtual void Encode(std::string_view piece, bool at_text_begin,
                      std::vector<Token>* tokens) const = 0;
};

class GgufFile;

// Text is processed by `added`, `normalizer`, `added_normalized`, `pre_tokenizer` and `model`, in
// this order.
struct TokenizerParts {
  Vocabulary vocabulary;
  AddedTokens added;
  AddedTokens added_normalized;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<const TokenModel> model;
  // Whether the tokens' bytes are exactly those of the text, with none added or changed.
  bool exact = false;

  // Sets the tokens that are matched literally in text; `normalizer` must be complete.
  void SetAddedTokens(const AddedTokenList& list);
};

// Reads tokenizer.ggml.* of models gpt2, llama, t5 and gemma4. Throws Error for another model,
// arrays that are missing, of a wrong type or of different lengths, duplicate tokens, merges of
// unknown tokens, or ids outside the vocabulary.
TokenizerParts ReadGgufTokenizer(const GgufFile& file);

// The value of "fix_mistral_regex" in tokenizer_config.json, if transformers reads it.
enum class MistralRegex { kNotRead, kAbsent, kOff, kOn };

// Changes that other files of the folder make to a tokenizer.json.
struct TokenizerJsonChanges {
  DeclaredTokens tokens;
  MistralRegex mistral_regex = MistralRegex::kNotRead;
};

// Reads a tokenizer.json; `thing` is its name in messages. Throws Error naming the first unknown
// component.
TokenizerParts ReadTokenizerJson(const nlohmann::json& json, const std::string& thing,
                                 const TokenizerJsonChanges& changes);

// Reads the text of a tekken.json (Mistral's byte-level BPE in tiktoken's form), with the ids of
// mistral-common. Throws Error.
TokenizerParts ReadTekken(std::string_view text, const std::string& thing);

// Options for SentencePiece's leading space in the text between special tokens.
struct SentencePieceOptions {
  bool prefix_first_only = false;  // only at the beginning of the whole text
};

// Reads the bytes of a tokenizer.model (sentencepiece_model.proto of google/sentencepiece). Throws
// Error.
TokenizerParts ReadSentencePiece(std::string_view bytes, const std::string& thing,
                                 const SentencePieceOptions& options);

// Reads a Hugging Face folder. Throws Error.
TokenizerParts ReadTokenizerFolder(const std::filesystem::path& folder);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The parts of a tokenizer, from any file.
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

// Interface of the models that turn a piece of text into tokens.

struct Token;

// Immutable and thread-safe.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the tokens of `piece` (UTF-8, not empty), with ranges of bytes of the piece.
  // at_text_begin: whether the piece begins the text. Throws Error for text without token where the
  // model has no unknown token.
  virtual void Encode(std::string_view piece, bool at_text_begin,
                      std::vector<Token>* tokens) const = 0;
};

class GgufFile;

// Text goes through `added`, `normalizer`, `added_normalized`, `pre_tokenizer`, `model`, in this
// order.
struct TokenizerParts {
  Vocabulary vocabulary;
  AddedTokens added;
  AddedTokens added_normalized;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<const TokenModel> model;
  // Whether the bytes of the tokens are those of the text, none put in and none changed.
  bool exact = false;

  // Makes these the tokens that are matched in text, after `normalizer` is complete.
  void SetAddedTokens(const AddedTokenList& list);
};

// tokenizer.ggml.*: gpt2, llama, t5. Throws Error: another model, arrays that are missing, of a
// wrong type or of different lengths, duplicate tokens, merges of unknown tokens, ids outside the
// vocabulary.
TokenizerParts ReadGgufTokenizer(const GgufFile& file);

// "fix_mistral_regex" of tokenizer_config.json, where transformers reads it.
enum class MistralRegex { kNotRead, kAbsent, kOff, kOn };

// Changes to a tokenizer.json by the files beside it.
struct TokenizerJsonChanges {
  DeclaredTokens tokens;
  MistralRegex mistral_regex = MistralRegex::kNotRead;
};

// A tokenizer.json; `thing` names it in messages. Throws Error naming the first component that is
// not known here.
TokenizerParts ReadTokenizerJson(const nlohmann::json& json, const std::string& thing,
                                 const TokenizerJsonChanges& changes);

// The text of a tekken.json (Mistral's byte-level BPE in tiktoken's form), with the ids of
// mistral-common. Throws Error.
TokenizerParts ReadTekken(std::string_view text, const std::string& thing);

// How the text between special tokens gets SentencePiece's leading space.
struct SentencePieceOptions {
  bool prefix_first_only = false;  // only at the very beginning of the text
};

// The bytes of a tokenizer.model (sentencepiece_model.proto of google/sentencepiece). Throws Error.
TokenizerParts ReadSentencePiece(std::string_view bytes, const std::string& thing,
                                 const SentencePieceOptions& options);

// A Hugging Face folder. Throws Error.
TokenizerParts ReadTokenizerFolder(const std::filesystem::path& folder);

}  // namespace midscope

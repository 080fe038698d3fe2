// SPDX-License-Identifier: MIT
// A SentencePiece model as data, read from and written to its file format (protocol buffers,
// sentencepiece_model.proto of google/sentencepiece).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {

struct SentencePieceModel {
  enum class Kind { kUnigram = 1, kBytePair = 2 };  // numbered as in the file
  struct Piece {
    std::string text;
    float score = 0;
    TokenType type = TokenType::kNormal;
  };

  Kind kind = Kind::kBytePair;
  std::vector<Piece> pieces;  // [token]
  bool add_space_prefix = true;
  bool remove_extra_spaces = true;
  std::string normalisation;  // compiled rules (PrecompiledMap); empty: none
  // The file's own bytes, which contain more than the other members; empty if there is no file.
  std::string file;
};

// Throws Error for bytes that are not such a file, and for kinds of models other than these two.
SentencePieceModel ParseSentencePiece(std::string_view bytes, const std::string& thing);

// Returns `model` in the file format.
std::string SerializeSentencePiece(const SentencePieceModel& model);

// Throws Error if the model contradicts itself.
TokenizerParts MakeSentencePiece(const SentencePieceModel& model, const std::string& thing,
                                 const SentencePieceOptions& options);

}  // namespace midscope

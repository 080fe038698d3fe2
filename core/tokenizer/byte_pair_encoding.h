// SPDX-License-Identifier: MIT
// Byte-pair encoding of one piece of text: adjacent tokens are merged in the order of the merges'
// ranks until no merge is left, as in Hugging Face `tokenizers`.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {

class BytePairEncoding : public TokenModel {
 public:
  struct Merge {
    int32_t left;
    int32_t right;
    int32_t joined;
    int32_t rank = -1;  // -1: its index in the list of merges
  };

  // The units into which text is split before the first merge.
  struct Alphabet {
    Alphabet() { bytes.fill(-1); }
    // Whether units are characters (as in SentencePiece) rather than bytes (as in GPT-2).
    bool of_characters = false;
    std::array<int32_t, 256> bytes{};  // [byte]: its token, -1: none; of_characters: for characters
                                       // without a token, all bytes or none
    std::unordered_map<std::string, int32_t> characters;  // of_characters: tokens of one character
    std::optional<int32_t> unknown;  // for a unit without a token; nullopt: it is dropped
    bool fuse_unknown = false;       // adjacent unknown units become one token
  };

  // merges: in order of rank, best first; of duplicate pairs the last is used. whole_pieces: pieces
  // that become one token without any merges.
  BytePairEncoding(Alphabet alphabet, const std::vector<Merge>& merges,
                   std::unordered_map<std::string, int32_t> whole_pieces = {});

  // Takes O(n log n) time in the length of the piece.
  void Encode(std::string_view piece, bool at_text_begin,
              std::vector<Token>* tokens) const override;

 private:
  struct Joined {
    int32_t rank;
    int32_t id;
  };
  struct PairHash {
    size_t operator()(uint64_t pair) const;
  };

  void Cut(std::string_view piece, std::vector<Token>* symbols) const;
  bool CutCharacter(std::string_view character, size_t begin, std::vector<Token>* symbols) const;
  const Joined* Find(int32_t left, int32_t right) const;

  Alphabet alphabet_;
  std::unordered_map<uint64_t, Joined, PairHash> joined_;
  std::unordered_map<std::string, int32_t> whole_pieces_;
};

}  // namespace midscope

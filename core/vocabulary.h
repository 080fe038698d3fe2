// SPDX-License-Identifier: MIT
// The tokens and merges of a model file's byte-level tokenizer, checked.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/byte_pair_encoding.h"

namespace midscope {

class GgufFile;

// As numbered in the file.
enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

struct Vocabulary {
  std::vector<std::string> bytes;          // [token] what the token stands for
  std::vector<TokenType> types;            // [token]
  std::array<int32_t, 256> byte_tokens{};  // [byte] -1: none
  std::vector<BytePairEncoding::Merge> merges;
  std::map<std::string, int32_t, std::less<>>
      special;  // written out in text, these become themselves
  std::string pre_tokenizer;
  std::string chat_template;
  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  std::optional<int32_t> unknown;
  bool add_bos = false;
};

// Throws Error: another tokenizer model than byte-level BPE, arrays that are missing, of a wrong
// type or of different lengths, tokens or merges that stand twice, merges of tokens that are not
// there, ids outside the vocabulary.
Vocabulary ReadVocabulary(const GgufFile& file);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Reads the components of a tokenizer.json other than its model.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/json_fields.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/pre_tokenizer.h"

namespace midscope {

// Throws Error naming `fields` if `text` is not base64.
std::string DecodeBase64(const std::string& text, const JsonFields& fields);

// Each of these functions throws Error naming an unknown component or setting.
void ReadNormalizer(const JsonFields& fields, Normalizer* normalizer);

// Returns whether pieces are in the byte alphabet of byte-level BPE.
bool ReadPreTokenizer(const JsonFields& fields, PreTokenizer* pre_tokenizer);

// Checks that a decoder is of a known kind. It determines the text of a token, except for byte
// tokens.
void CheckDecoder(const JsonFields& fields);

// Returns `pre_tokenizer` as transformers changes it if "fix_mistral_regex" is true.
nlohmann::json WithMistralRegex(nlohmann::json pre_tokenizer);

struct TokensAround {
  std::vector<int32_t> before;  // ids
  std::string after;            // their texts, joined
};

// Returns the tokens that the post-processor puts around a single text. ids: maps texts to ids.
TokensAround ReadTokensAround(const JsonFields& fields,
                              const std::unordered_map<std::string, int32_t>& ids);

}  // namespace midscope

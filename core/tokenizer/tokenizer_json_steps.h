// SPDX-License-Identifier: MIT
// The components of a tokenizer.json around its model.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/json_fields.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/pre_tokenizer.h"

namespace midscope {

// Throws Error naming `fields` where `text` is not base64.
std::string DecodeBase64(const std::string& text, const JsonFields& fields);

// Each throws Error naming a component or a setting that is not known here.
void ReadNormalizer(const JsonFields& fields, Normalizer* normalizer);

// Whether the pieces are in the byte alphabet of byte-level BPE.
bool ReadPreTokenizer(const JsonFields& fields, PreTokenizer* pre_tokenizer);

// Checks the kind of a decoder: its result for a token, except for bytes.
void CheckDecoder(const JsonFields& fields);

// `pre_tokenizer` as transformers changes it where "fix_mistral_regex" is true.
nlohmann::json WithMistralRegex(nlohmann::json pre_tokenizer);

struct TokensAround {
  std::vector<int32_t> before;  // ids
  std::string after;            // texts, joined
};

// The tokens that the post-processor puts around a single text. ids: of texts.
TokensAround ReadTokensAround(const JsonFields& fields,
                              const std::unordered_map<std::string, int32_t>& ids);

}  // namespace midscope

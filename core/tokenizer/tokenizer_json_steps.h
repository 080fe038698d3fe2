// SPDX-License-Identifier: MIT
// The components of a tokenizer.json around its model.
#pragma once

#include "core/base/json_fields.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/pre_tokenizer.h"

namespace midscope {

// Each throws Error naming a component or a setting that is not known here.
void ReadNormalizer(const JsonFields& fields, Normalizer* normalizer);

// Whether the pieces are in the byte alphabet of byte-level BPE.
bool ReadPreTokenizer(const JsonFields& fields, PreTokenizer* pre_tokenizer);

// Checks the kind of a decoder: what it makes of a token, apart from bytes.
void CheckDecoder(const JsonFields& fields);

// The texts of the special tokens that the post-processor puts before a single text.
std::vector<std::string> ReadTokensBefore(const JsonFields& fields);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The roles that llama.cpp gives to tokens of GGUF files because of their texts
// (src/llama-vocab.cpp, llama_vocab::impl::load).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizer/vocabulary.h"

namespace midscope {

// ids: maps texts, as written in the file, to ids; named("fim_pad"): the id of that role in the
// metadata. Sets the types of tokens with a role like llama.cpp: a token that ends a turn is a
// control token even if the file has another type. Returns the tokens that end a generation,
// without duplicates.
std::vector<int32_t> FindGgufEnds(
    const std::unordered_map<std::string_view, int32_t>& ids,
    const std::function<std::optional<int32_t>(const char* role)>& named,
    std::vector<TokenType>* types);

}  // namespace midscope

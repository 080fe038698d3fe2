// SPDX-License-Identifier: MIT
// Long filler texts for passkey and needle.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/random.h"

namespace midscope {

// The text of a file, or of all files *.txt of a folder, concatenated in the order of their names.
// Throws Error (failure) if there is none, it is not UTF-8, empty or longer than 256 MiB.
std::string ReadHaystack(const std::string& path);

// At least `bytes` bytes of paragraphs of generic sentences, none of them about a city.
std::string MakeHaystack(int64_t bytes, SplitMix64 random);

// At least `bytes` bytes of `text`, from the first sentence at or after `offset` on, repeated from
// its beginning. `offset` 0: from its beginning.
std::string RepeatedText(const std::string& text, int64_t bytes, uint64_t offset);

}  // namespace midscope

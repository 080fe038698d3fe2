// SPDX-License-Identifier: MIT
// Long filler texts ("haystacks") for the tasks passkey and needle.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/random.h"

namespace midscope {

// Returns the text of a file, or of all *.txt in a folder, concatenated by name. Throws Error
// (failure) if there is no file, or the text is empty, not UTF-8 or longer than 256 MiB.
std::string ReadHaystack(const std::string& path);

// Returns at least `bytes` bytes of generated paragraphs of generic sentences, none about a city.
std::string MakeHaystack(int64_t bytes, SplitMix64 random);

// Returns at least `bytes` bytes of `text`, starting at the first sentence that begins at or after
// `offset` (0: at the beginning of the text) and continuing at the beginning when the text ends.
std::string RepeatedText(const std::string& text, int64_t bytes, uint64_t offset);

}  // namespace midscope

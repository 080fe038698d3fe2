// SPDX-License-Identifier: MIT
// Checks the nesting depth of JSON and MessagePack texts without recursion before they are parsed.
// The JSON library's parsers and printers recurse once per level, and a file of a few kilobytes can
// have more levels than the stack has room for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace midscope {

// A limit above the nesting depth of any of Midscope's files.
inline constexpr int64_t kDeepestJson = 64;

// Whether no part of the text is nested in more than `levels` lists and objects. Does not check
// that the text is valid JSON.
bool JsonNestsWithin(std::string_view json, int64_t levels = kDeepestJson);

// Whether the bytes are exactly one MessagePack value, no part of which is nested in more than
// `levels` lists and maps.
bool MessagePackNestsWithin(std::span<const uint8_t> bytes, int64_t levels = kDeepestJson);

}  // namespace midscope

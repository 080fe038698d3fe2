// SPDX-License-Identifier: MIT
// Nesting depth of JSON and MessagePack texts, checked without recursion before parsing: parsers
// and printers of the JSON library call themselves once per level, and a file of some kilobytes can
// hold more levels than a stack does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace midscope {

// More levels than any file of ours has.
inline constexpr int64_t kDeepestJson = 64;

// Whether no part of the text is nested in more than `levels` lists and objects. Does not check
// that the text is JSON.
bool JsonNestsWithin(std::string_view json, int64_t levels = kDeepestJson);

// Whether the bytes are exactly one MessagePack value, no part of which is nested in more than
// `levels` lists and maps.
bool MessagePackNestsWithin(std::span<const uint8_t> bytes, int64_t levels = kDeepestJson);

}  // namespace midscope

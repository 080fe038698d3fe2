// SPDX-License-Identifier: MIT
// How deeply JSON and MessagePack texts nest, told without recursion and before they are parsed:
// parsers and printers of the JSON library call themselves once per level, and a file of some
// kilobytes can hold more levels than a stack does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace midscope {

// More levels than any file of ours has.
inline constexpr int64_t kDeepestJson = 64;

// Whether no place of the text lies in more than `levels` lists and objects. Says nothing about
// whether the text is JSON.
bool JsonNestsWithin(std::string_view json, int64_t levels = kDeepestJson);

// Whether the bytes are one MessagePack value and nothing behind it, no place of which lies in more
// than `levels` lists and maps.
bool MessagePackNestsWithin(std::span<const uint8_t> bytes, int64_t levels = kDeepestJson);

}  // namespace midscope

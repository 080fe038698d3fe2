// SPDX-License-Identifier: MIT
// What identifies a model file in every output: XXH3-128 of its bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace midscope {

// 32 hexadecimal digits, as `xxhsum -H2` prints them.
std::string HashBytes(std::span<const std::byte> bytes);

// The first 16 of them, which tell apart what people name: the digests that printed terms state.
std::string ShortDigest(std::string_view text);

// Of the pieces one after the other.
std::string HashPieces(std::span<const std::span<const std::byte>> pieces);

// Throws Error where the file can't be read.
std::string HashFile(const std::filesystem::path& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// What identifies a model file in every output: XXH3-128 of its bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace midscope {

// 32 hexadecimal digits, as `xxhsum -H2` prints them.
std::string HashBytes(std::span<const std::byte> bytes);

// Of the pieces one after the other.
std::string HashPieces(std::span<const std::span<const std::byte>> pieces);

// Throws Error where the file can't be read.
std::string HashFile(const std::filesystem::path& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// What identifies a model file in every output: XXH3-128 of its bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/base/memory_map.h"

namespace midscope {

// 32 hexadecimal digits, as `xxhsum -H2` prints them.
std::string HashBytes(std::span<const std::byte> bytes);

// The first 16 of them, which tell apart what people name: the digests that printed terms state.
std::string ShortDigest(std::string_view text);

// Hashes the bytes of the maps one after the other, and returns their pages to the system.
std::string HashMaps(std::span<const MemoryMap> maps);

// Throws Error where the file can't be read.
std::string HashFile(const std::filesystem::path& path);

}  // namespace midscope

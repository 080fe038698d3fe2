// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/memory_map.h"

namespace midscope {

// The two digests by which a model hub names the contents of files: SHA-256 for large ones (git
// LFS), and git's own for small ones: SHA-1 of "blob SIZE\0" and the bytes.

enum class ContentHashKind { kSha256, kGitBlob };

// Fed piece by piece. Move-only.
class ContentHash {
 public:
  // `size`: bytes that will be added in all; git's digest begins with it.
  ContentHash(ContentHashKind kind, int64_t size);
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;

  void Add(std::span<const std::byte> bytes);
  // 64 or 40 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether the text is such a digest: it becomes a file's name.
bool IsContentHash(const std::string& text, ContentHashKind kind);

// The identity of a model file in every output: XXH3-128 of its bytes.

// 32 hexadecimal digits, as `xxhsum -H2` prints them.
std::string HashBytes(std::span<const std::byte> bytes);

// The first 16 of them, enough to distinguish named files: the digests in printed terms.
std::string ShortDigest(std::string_view text);

// Hashes the bytes of the maps one after the other, and returns their pages to the system.
std::string HashMaps(std::span<const MemoryMap> maps);

// Throws Error where the file can't be read.
std::string HashFile(const std::filesystem::path& path);

}  // namespace midscope

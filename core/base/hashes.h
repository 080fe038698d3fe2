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
// LFS), and git's own digest for small ones: SHA-1 of "blob SIZE\0" and the bytes.

enum class ContentHashKind { kSha256, kGitBlob };

// Computes a digest of bytes that are added part by part. Move-only.
class ContentHash {
 public:
  // `size`: total number of bytes that will be added; git's digest begins with it.
  ContentHash(ContentHashKind kind, int64_t size);
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;

  void Add(std::span<const std::byte> bytes);
  // Returns 64 or 40 lower-case hexadecimal digits. No bytes may be added afterwards.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether the text has the form of a digest of this kind, as it must before it is used in a path.
bool IsContentHash(const std::string& text, ContentHashKind kind);

// The hash that identifies a model file in every output: XXH3-128 of its bytes.

// Returns 32 hexadecimal digits, as `xxhsum -H2` prints them.
std::string HashBytes(std::span<const std::byte> bytes);

// Returns the first 16 hexadecimal digits of the text's XXH3-128. Printed interventions identify
// the contents of a file by this digest.
std::string ShortDigest(std::string_view text);

// Returns the XXH3-128 of the bytes of all maps, in order, and gives back their pages.
std::string HashMaps(std::span<const MemoryMap> maps);

// Returns the XXH3-128 of a file's bytes. Throws Error if the file cannot be read.
std::string HashFile(const std::filesystem::path& path);
// Returns the XXH3-128 of the file's first `bytes` bytes, or of all if it has fewer.
std::string HashFile(const std::filesystem::path& path, int64_t bytes);

}  // namespace midscope

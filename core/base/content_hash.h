// SPDX-License-Identifier: MIT
// The two digests by which a model hub names the contents of files: SHA-256 for large ones (git
// LFS), and git's own for small ones: SHA-1 of "blob SIZE\0" and the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace midscope {

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

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/file_hash.h"

#include <xxhash.h>

#include "core/memory_map.h"

namespace midscope {

std::string HashBytes(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::string text;
  for (const unsigned char digit : canonical.digest) {
    text += "0123456789abcdef"[digit >> 4];
    text += "0123456789abcdef"[digit & 15];
  }
  return text;
}

std::string HashFile(const std::filesystem::path& path) {
  return HashBytes(MemoryMap(path).bytes());
}

}  // namespace midscope

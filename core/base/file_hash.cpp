// SPDX-License-Identifier: MIT
#include "core/base/file_hash.h"

#include <xxhash.h>

#include <memory>
#include <new>

#include "core/base/hexadecimal.h"
#include "core/base/memory_map.h"

namespace midscope {

namespace {

std::string HashText(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return Hexadecimal(canonical.digest);
}

}  // namespace

std::string HashBytes(std::span<const std::byte> bytes) {
  return HashText(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string ShortDigest(std::string_view text) {
  return HashBytes(std::as_bytes(std::span(text))).substr(0, 16);
}

std::string HashPieces(std::span<const std::span<const std::byte>> pieces) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (const std::span<const std::byte> piece : pieces) {
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
  }
  return HashText(XXH3_128bits_digest(state.get()));
}

std::string HashFile(const std::filesystem::path& path) {
  return HashBytes(MemoryMap(path).bytes());
}

}  // namespace midscope

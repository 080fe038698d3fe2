// SPDX-License-Identifier: MIT
#include "core/base/file_hash.h"

#include <xxhash.h>

#include <memory>
#include <new>

#include "core/base/hexadecimal.h"

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

std::string HashMaps(std::span<const MemoryMap> maps) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (const MemoryMap& map : maps) {
    XXH3_128bits_update(state.get(), map.data(), map.bytes().size());
    map.DontNeed(0, map.size());
  }
  return HashText(XXH3_128bits_digest(state.get()));
}

std::string HashFile(const std::filesystem::path& path) {
  return HashBytes(MemoryMap(path).bytes());
}

}  // namespace midscope

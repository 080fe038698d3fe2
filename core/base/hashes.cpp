// SPDX-License-Identifier: MIT
#include "core/base/hashes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include "core/base/text.h"

namespace midscope {

struct ContentHash::State {
  State() : context(EVP_MD_CTX_new()) {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* context;
};

ContentHash::ContentHash(ContentHashKind kind, int64_t size) : state_(std::make_unique<State>()) {
  const EVP_MD* digest = kind == ContentHashKind::kSha256 ? EVP_sha256() : EVP_sha1();
  if (EVP_DigestInit_ex(state_->context, digest, nullptr) != 1) {
    throw std::runtime_error("the system's OpenSSL does not give the digest that files have");
  }
  if (kind == ContentHashKind::kSha256) return;
  const std::string head = fmt::format("blob {}", size);
  Add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
}

ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;

void ContentHash::Add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string ContentHash::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  return Hexadecimal({digest.data(), size});
}

bool IsContentHash(const std::string& text, ContentHashKind kind) {
  const size_t digits = kind == ContentHashKind::kSha256 ? 64 : 40;
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return std::string_view("0123456789abcdef").find(c) != std::string_view::npos;
         });
}

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

std::string HashFile(const std::filesystem::path& path, int64_t bytes) {
  const MemoryMap map(path);
  const std::span<const std::byte> all = map.bytes();
  return HashBytes(all.first(std::min(all.size(), static_cast<size_t>(bytes))));
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/base/content_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "core/base/hexadecimal.h"

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

}  // namespace midscope

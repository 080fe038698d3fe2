// SPDX-License-Identifier: MIT
#include "core/tokenizer/precompiled_map.h"

#include <cstring>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

// Fields of a unit, packed as in darts-clone.
constexpr uint32_t kLeaf = 1u << 8;
uint32_t Label(uint32_t unit) { return unit & ((1u << 31) | 0xff); }
uint32_t LeafValue(uint32_t unit) { return unit & ((1u << 31) - 1); }
size_t Offset(uint32_t unit) {
  return static_cast<size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6);
}

// Visits every unit that a key can reach.
class Checker {
 public:
  Checker(const std::vector<uint32_t>& units, const std::string& replacements,
          const std::string& thing)
      : units_(units), replacements_(replacements), thing_(thing), seen_(units.size()) {}

  void Run() {
    std::vector<size_t> open = {0};
    seen_[0] = true;
    while (!open.empty()) {
      const size_t node = open.back();
      open.pop_back();
      const size_t base = node ^ Offset(units_[node]);
      if ((base | 0xff) >= units_.size()) Fail();
      if ((units_[node] & kLeaf) != 0) CheckReplacement(LeafValue(units_[base]));
      for (size_t byte = 1; byte < 256; ++byte) {
        const size_t child = base ^ byte;
        if (Label(units_[child]) != byte || seen_[child]) continue;
        seen_[child] = true;
        open.push_back(child);
      }
    }
  }

 private:
  void CheckReplacement(uint32_t begin) const {
    if (begin >= replacements_.size()) Fail();
    if (FindInvalidUtf8(replacements_.c_str() + begin))
      throw Failure(thing_, "one of its normalisation rules gives invalid UTF-8");
  }

  [[noreturn]] void Fail() const {
    throw Failure(thing_, "its table of normalisation rules points outside itself");
  }

  const std::vector<uint32_t>& units_;
  const std::string& replacements_;
  const std::string& thing_;
  std::vector<bool> seen_;
};

}  // namespace

PrecompiledMap::PrecompiledMap(std::string_view bytes, const std::string& thing) {
  uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || size % sizeof(uint32_t) != 0 || size > bytes.size() - sizeof size ||
      bytes.back() != '\0') {
    throw Failure(
        thing, fmt::format("its table of normalisation rules is damaged ({} bytes)", bytes.size()));
  }
  units_.resize(size / sizeof(uint32_t));
  std::memcpy(units_.data(), bytes.data() + sizeof size, size);
  replacements_ = bytes.substr(sizeof size + size);
  Checker(units_, replacements_, thing).Run();
}

std::optional<std::string_view> PrecompiledMap::Find(std::string_view text) const {
  size_t node = Offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    node ^= byte;
    const uint32_t unit = units_[node];
    if (Label(unit) != byte) break;
    node ^= Offset(unit);
    if ((unit & kLeaf) != 0)
      return std::string_view(replacements_.data() + LeafValue(units_[node]));
  }
  return std::nullopt;
}

}  // namespace midscope

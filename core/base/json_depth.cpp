// SPDX-License-Identifier: MIT
#include "core/base/json_depth.h"

#include <optional>
#include <vector>

namespace midscope {
namespace {

// The data after a MessagePack value's first byte (github.com/msgpack/msgpack, spec.md): a
// big-endian length of `length_bytes`, which counts payload bytes or nested values, and
// `payload_bytes` more.
struct ValueHead {
  uint64_t length_bytes = 0;
  uint64_t payload_bytes = 0;
  uint64_t values = 0;  // number of nested values, if the first byte gives it
  uint64_t values_per_length = 0;
  bool length_is_payload = false;
};

ValueHead Bytes(uint64_t length_bytes, uint64_t more = 0) {
  return {length_bytes, more, 0, 0, true};
}

std::optional<ValueHead> HeadOf(uint8_t tag) {
  constexpr uint64_t kPair = 2;
  if (tag <= 0x7f || tag >= 0xe0) return ValueHead{};
  if (tag <= 0x8f) return ValueHead{0, 0, (tag & 0x0fU) * kPair, 0, false};
  if (tag <= 0x9f) return ValueHead{0, 0, tag & 0x0fU, 0, false};
  if (tag <= 0xbf) return ValueHead{0, tag & 0x1fU, 0, 0, false};
  switch (tag) {
    case 0xc0:
    case 0xc2:
    case 0xc3:
      return ValueHead{};
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return Bytes(uint64_t{1} << (tag - 0xc4));
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return Bytes(uint64_t{1} << (tag - 0xc7), 1);
    case 0xca:
      return ValueHead{0, 4, 0, 0, false};
    case 0xcb:
      return ValueHead{0, 8, 0, 0, false};
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return ValueHead{0, uint64_t{1} << (tag - 0xcc), 0, 0, false};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return ValueHead{0, uint64_t{1} << (tag - 0xd0), 0, 0, false};
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return ValueHead{0, (uint64_t{1} << (tag - 0xd4)) + 1, 0, 0, false};
    case 0xd9:
    case 0xda:
    case 0xdb:
      return Bytes(uint64_t{1} << (tag - 0xd9));
    case 0xdc:
    case 0xdd:
      return ValueHead{uint64_t{2} << (tag - 0xdc), 0, 0, 1, false};
    case 0xde:
    case 0xdf:
      return ValueHead{uint64_t{2} << (tag - 0xde), 0, 0, kPair, false};
    default:
      return std::nullopt;  // 0xc1: never used
  }
}

}  // namespace

bool JsonNestsWithin(std::string_view json, int64_t levels) {
  int64_t depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

bool MessagePackNestsWithin(std::span<const uint8_t> bytes, int64_t levels) {
  std::vector<uint64_t> left = {1};  // values still to be read, per level
  uint64_t at = 0;
  while (true) {
    while (!left.empty() && left.back() == 0) left.pop_back();
    if (left.empty()) return at == bytes.size();
    --left.back();
    if (at >= bytes.size()) return false;
    const std::optional<ValueHead> head = HeadOf(bytes[at++]);
    if (!head || head->length_bytes > bytes.size() - at) return false;
    uint64_t length = 0;
    for (uint64_t i = 0; i < head->length_bytes; ++i) length = (length << 8U) | bytes[at++];
    const uint64_t payload = head->payload_bytes + (head->length_is_payload ? length : 0);
    if (payload > bytes.size() - at) return false;
    at += payload;
    const uint64_t values = head->values + head->values_per_length * length;
    if (values == 0) continue;
    if (values > bytes.size() - at) return false;  // each value takes at least one byte
    if (static_cast<int64_t>(left.size()) > levels) return false;
    left.push_back(values);
  }
}

}  // namespace midscope

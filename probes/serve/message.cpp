// SPDX-License-Identifier: MIT
#include "probes/serve/message.h"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <msgpack.hpp>

#include "core/base/utf8.h"

namespace midscope {
namespace {

// Minimum size of binaries and texts that a frame refers to instead of copying them.
constexpr size_t kLargePart = size_t{64} << 10;

template <typename Packer>
void PackText(const std::string& text, Packer& packer) {
  packer.pack_str(static_cast<uint32_t>(text.size()));
  packer.pack_str_body(text.data(), static_cast<uint32_t>(text.size()));
}

// Packs a number as float64 even if it is an integer, which pack_double would convert.
template <typename Stream>
void PackReal(double value, Stream& stream) {
  std::array<char, 1 + sizeof(double)> bytes{'\xcb'};
  const auto bits = std::bit_cast<uint64_t>(value);
  for (size_t i = 0; i < sizeof(double); ++i) {
    bytes[sizeof(double) - i] = static_cast<char>((bits >> (8 * i)) & 0xFFU);
  }
  stream.write(bytes.data(), bytes.size());
}

// Recursion is limited by the depth of messages, which this program makes itself.
template <typename Stream>
void Pack(const Message& value, msgpack::packer<Stream>& packer, Stream& stream) {
  switch (value.type()) {
    case Message::value_t::null:
      packer.pack_nil();
      break;
    case Message::value_t::boolean:
      value.get<bool>() ? packer.pack_true() : packer.pack_false();
      break;
    case Message::value_t::number_integer:
      packer.pack_int64(value.get<int64_t>());
      break;
    case Message::value_t::number_unsigned:
      packer.pack_uint64(value.get<uint64_t>());
      break;
    case Message::value_t::number_float:
      PackReal(value.get<double>(), stream);
      break;
    case Message::value_t::string:
      PackText(value.get_ref<const std::string&>(), packer);
      break;
    case Message::value_t::binary: {
      const auto& bytes = value.get_binary();
      packer.pack_bin(static_cast<uint32_t>(bytes.size()));
      packer.pack_bin_body(reinterpret_cast<const char*>(bytes.data()),
                           static_cast<uint32_t>(bytes.size()));
      break;
    }
    case Message::value_t::array:
      packer.pack_array(static_cast<uint32_t>(value.size()));
      for (const Message& element : value) Pack(element, packer, stream);
      break;
    case Message::value_t::object:
      packer.pack_map(static_cast<uint32_t>(value.size()));
      for (const auto& [key, element] : value.items()) {
        PackText(key, packer);
        Pack(element, packer, stream);
      }
      break;
    default:
      throw std::logic_error("a discarded value cannot be sent");
  }
}

// Builds a message from the parser's events, without recursion.
class Builder : public msgpack::null_visitor {
 public:
  Message Take() && { return std::move(root_); }
  const std::string& problem() const { return problem_; }

  bool visit_nil() { return Put(nullptr); }
  bool visit_boolean(bool value) { return Put(value); }
  bool visit_positive_integer(uint64_t value) { return Put(value); }
  bool visit_negative_integer(int64_t value) { return Put(value); }
  bool visit_float32(float value) { return Put(value); }
  bool visit_float64(double value) { return Put(value); }
  bool visit_str(const char* data, uint32_t size) {
    std::string text(data, size);
    if (FindInvalidUtf8(text)) return Fail("a text is not UTF-8");
    if (!in_key_) return Put(std::move(text));
    if (open_.back()->contains(text)) return Fail("a key occurs twice");
    key_ = std::move(text);
    has_key_ = true;
    return true;
  }
  bool visit_bin(const char* data, uint32_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    return Put(Message::binary(std::vector<uint8_t>(begin, begin + size)));
  }
  bool visit_ext(const char* /*data*/, uint32_t /*size*/) {
    return Fail("it has an extension type");
  }
  bool start_array(uint32_t /*elements*/) { return Open(Message::array()); }
  bool end_array() { return Close(); }
  bool start_map(uint32_t /*elements*/) { return Open(Message::object()); }
  bool end_map() { return Close(); }
  bool start_map_key() {
    in_key_ = true;
    has_key_ = false;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return has_key_ || Fail("a key is not a text");
  }
  void parse_error(size_t /*parsed*/, size_t /*at*/) { Fail("its bytes are damaged"); }
  void insufficient_bytes(size_t /*parsed*/, size_t /*at*/) { Fail("it is cut off"); }

 private:
  bool Fail(const char* problem) {
    if (problem_.empty()) problem_ = problem;
    return false;
  }

  // Adds a value to the innermost open container and returns its address; null for an invalid key.
  Message* Add(Message value) {
    if (in_key_) {
      Fail("a key is not a text");
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Message& container = *open_.back();
    if (container.is_array()) {
      container.push_back(std::move(value));
      return &container.back();
    }
    return &(container[key_] = std::move(value));
  }
  bool Put(Message value) { return Add(std::move(value)) != nullptr; }
  bool Open(Message container) {
    if (open_.size() == kDeepestMessage) return Fail("it is nested too deeply");
    Message* added = Add(std::move(container));
    if (!added) return false;
    // The pointer stays valid: nothing is added to the outer containers while this one is open.
    open_.push_back(added);
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  Message root_;
  std::vector<Message*> open_;
  std::string key_;
  bool in_key_ = false;
  bool has_key_ = false;
  std::string problem_;
};

}  // namespace

std::string PackMessage(const Message& message) {
  msgpack::sbuffer buffer;
  msgpack::packer<msgpack::sbuffer> packer(buffer);
  Pack(message, packer, buffer);
  return {buffer.data(), buffer.size()};
}

Frame PackFrame(Message message) {
  struct Packed {
    Message message;
    msgpack::vrefbuffer buffer{kLargePart};
  };
  auto packed = std::make_shared<Packed>();
  packed->message = std::move(message);
  msgpack::packer<msgpack::vrefbuffer> packer(packed->buffer);
  Pack(packed->message, packer, packed->buffer);
  Frame frame;
  for (const msgpack::iovec& part :
       std::span(packed->buffer.vector(), packed->buffer.vector_size())) {
    frame.parts.emplace_back(static_cast<const char*>(part.iov_base), part.iov_len);
  }
  frame.owner = std::move(packed);
  return frame;
}

Message UnpackMessage(std::string_view bytes) {
  Builder builder;
  size_t end = 0;
  const bool whole = msgpack::parse(bytes.data(), bytes.size(), end, builder);
  if (!builder.problem().empty() || !whole) {
    throw Failure("message", builder.problem().empty() ? "it is cut off" : builder.problem(),
                  "Send one MessagePack map per frame");
  }
  if (end != bytes.size()) {
    throw Failure("message", "bytes follow its value", "Send one MessagePack map per frame");
  }
  return std::move(builder).Take();
}

Message ErrorMessage(const Error& error) {
  const std::string problem = error.problem();
  const std::string whole = error.what();
  const size_t colon = problem.find(": ");
  const std::string thing = colon == std::string::npos ? "" : problem.substr(0, colon);
  const std::string reason = colon == std::string::npos ? problem : problem.substr(colon + 2);
  const std::string remedy =
      whole.size() > problem.size() + 2 ? whole.substr(problem.size() + 2) : "";
  Message message = {{"thing", thing},
                     {"reason", reason},
                     {"remedy", remedy},
                     {"usage", error.kind() == ErrorKind::kUsage}};
  if (const auto* device = dynamic_cast<const DeviceError*>(&error)) {
    message["device_lost"] = device->lost();
  }
  return message;
}

}  // namespace midscope

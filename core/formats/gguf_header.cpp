// SPDX-License-Identifier: MIT
#include "core/formats/gguf_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

static_assert(std::endian::native == std::endian::little,
              "GGUF files are read in place, little-endian");

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint64_t kMaxKeyBytes = 65535;      // the format's own limit
constexpr uint64_t kMaxTensorNameBytes = 64;  // the format's own limit
constexpr uint32_t kMaxDimensions = 4;
constexpr uint64_t kMinValueBytes = 8 + 0 + 4 + 1;  // key length, key, type, the smallest value
constexpr uint64_t kMinTensorBytes =
    8 + 0 + 4 + 8 + 4 + 8;  // name length, name, rank, one dimension, type, offset

// Returns ggml's name of a tensor type that kernels/quantised/dequantise.h does not read.
std::string UnreadTypeName(uint32_t type) {
  constexpr std::array<std::pair<uint32_t, std::string_view>, 9> kNames = {{{9, "Q8_1"},
                                                                            {15, "Q8_K"},
                                                                            {24, "I8"},
                                                                            {25, "I16"},
                                                                            {26, "I32"},
                                                                            {27, "I64"},
                                                                            {28, "F64"},
                                                                            {40, "NVFP4"},
                                                                            {41, "Q1_0"}}};
  for (const auto& [number, name] : kNames) {
    if (number == type) return "the type " + std::string(name);
  }
  return fmt::format("the type number {}", type);
}

std::string ReadTypeNames() {
  std::string names;
  for (const kernels::BlockFormat& format : kernels::BlockFormats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

class Parser {
 public:
  Parser(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  GgufHeader Parse() {
    GgufHeader header;
    header.version = ReadVersion();
    const auto tensors = Read<uint64_t>("the number of tensors");
    const auto values = Read<uint64_t>("the number of metadata values");
    CheckCount(values, kMinValueBytes, "metadata values");
    for (uint64_t i = 0; i < values; ++i) ReadValue(&header);
    CheckCount(tensors, kMinTensorBytes, "tensors");
    header.tensors.reserve(tensors);
    std::vector<uint64_t> offsets;
    offsets.reserve(tensors);
    for (uint64_t i = 0; i < tensors; ++i) header.tensors.push_back(ReadTensor(&offsets));
    PlaceTensors(Alignment(header), offsets, &header.tensors);
    return header;
  }

 private:
  [[noreturn]] void Fail(const std::string& reason, const std::string& remedy = "") const {
    throw Failure(name_, reason, remedy);
  }

  uint64_t remaining() const { return file_.size() - position_; }

  // Returns the next `bytes` bytes; every read of the header uses this function.
  const std::byte* Take(uint64_t bytes, const std::string& what) {
    if (bytes > remaining()) {
      Fail(fmt::format("the file ends inside {}: {} bytes are missing (it has {})", what,
                       bytes - remaining(), file_.size()),
           "It is truncated or damaged: download it again");
    }
    const std::byte* begin = file_.data() + position_;
    position_ += bytes;
    return begin;
  }

  template <typename T>
  T Read(const std::string& what) {
    return LoadNumber<T>(Take(sizeof(T), what));
  }

  // Checks a count of following items, each of at least `bytes_each` bytes, before the count is
  // used.
  void CheckCount(uint64_t count, uint64_t bytes_each, const std::string& what) const {
    if (count > remaining() / bytes_each) {
      Fail(fmt::format("it claims {} {}, but only {} bytes are left in the file", count, what,
                       remaining()),
           "It is truncated or damaged: download it again");
    }
  }

  std::string_view ReadString(uint64_t max_bytes, const std::string& what) {
    const auto bytes = Read<uint64_t>("the length of " + what);
    if (bytes > max_bytes) {
      Fail(fmt::format("{} is {} bytes long; {} are allowed", what, bytes, max_bytes));
    }
    return {reinterpret_cast<const char*>(Take(bytes, what)), bytes};
  }

  uint32_t ReadVersion() {
    const auto magic = Read<uint32_t>("the first 4 bytes");
    if (magic != kMagic)
      Fail("not a GGUF file (it does not begin with 'GGUF')",
           "Name a .gguf file, a Hugging Face folder or ORG/NAME. A file of questions goes with "
           "--task");
    const auto version = Read<uint32_t>("the version");
    if (version == 2 || version == 3) return version;
    if ((version & 0xffffu) == 0) {
      Fail("the file is big-endian, which is not supported",
           "Convert it with gguf_convert_endian.py");
    }
    Fail(fmt::format("GGUF version {} is not supported (2 and 3 are)", version),
         "Convert the model again");
  }

  void ReadValue(GgufHeader* header) {
    const std::string key(ReadString(kMaxKeyBytes, "a metadata key"));
    if (key.empty()) Fail("a metadata key is empty");
    CheckUtf8(name_ + ": a metadata key", key);
    const std::string what = "metadata " + Quote(key);
    GgufValue value{.type = ReadType(what)};
    if (value.type == GgufType::kArray) {
      value.is_array = true;
      value.type = ReadType(what);
      if (value.type == GgufType::kArray)
        Fail(what + " is an array of arrays, which is not supported");
      const auto count = Read<uint64_t>(what);
      CheckCount(count, value.type == GgufType::kString ? 8 : GgufElementBytes(value.type),
                 "elements of " + what);
      value.count = static_cast<int64_t>(count);
    }
    value.data = file_.data() + position_;
    SkipElements(value, what);
    if (!header->values.emplace(key, value).second) Fail(what + " occurs twice");
  }

  GgufType ReadType(const std::string& what) {
    const auto type = Read<GgufType>("the type of " + what);
    if (type > GgufType::kFloat64) {
      Fail(fmt::format("{} has the unknown type number {}", what, static_cast<uint32_t>(type)));
    }
    return type;
  }

  void SkipElements(const GgufValue& value, const std::string& what) {
    if (value.type == GgufType::kString) {
      for (int64_t i = 0; i < value.count; ++i) ReadString(UINT64_MAX, what);
      return;
    }
    // The product cannot overflow, because the count was checked against the remaining bytes.
    const std::byte* begin =
        Take(static_cast<uint64_t>(value.count * GgufElementBytes(value.type)), what);
    if (value.type != GgufType::kBool) return;
    const auto is_bool = [](std::byte byte) {
      return byte == std::byte{0} || byte == std::byte{1};
    };
    if (!std::all_of(begin, begin + value.count, is_bool))
      Fail(what + " is neither true nor false");
  }

  uint64_t Alignment(const GgufHeader& header) const {
    const auto found = header.values.find("general.alignment");
    if (found == header.values.end()) return kDefaultAlignment;
    const GgufValue& value = found->second;
    if (value.is_array || value.type != GgufType::kUint32) {
      Fail("general.alignment is " + std::string(GgufTypeName(value.type)) +
           (value.is_array ? " array" : "") + "; it must be uint32");
    }
    const uint64_t alignment = LoadNumber<uint32_t>(value.data);
    if (!std::has_single_bit(alignment) || alignment < 8 || alignment > kMaxAlignment) {
      Fail(fmt::format("general.alignment is {}; it must be a power of two from 8 to {}", alignment,
                       kMaxAlignment));
    }
    return alignment;
  }

  // Reads a tensor's name, shape and format, and appends its offset to `offsets`.
  GgufTensor ReadTensor(std::vector<uint64_t>* offsets) {
    GgufTensor tensor;
    tensor.name = ReadString(kMaxTensorNameBytes, "a tensor's name");
    CheckUtf8(name_ + ": a tensor's name", tensor.name);
    const std::string what = "tensor " + Quote(tensor.name);
    const auto dimensions = Read<uint32_t>(what);
    if (dimensions < 1 || dimensions > kMaxDimensions) {
      Fail(fmt::format("{} has {} dimensions; 1 to 4 are allowed", what, dimensions));
    }
    int64_t elements = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
      const auto size = Read<int64_t>(what);
      if (size < 1) Fail(fmt::format("{} has a dimension of {}; it must be positive", what, size));
      if (__builtin_mul_overflow(elements, size, &elements))
        Fail(what + " has more elements than can be counted");
      tensor.shape.insert(tensor.shape.begin(), size);
    }
    const auto type = Read<uint32_t>(what);
    const auto format = kernels::FindBlockFormat(type);
    if (!format) {
      Fail(fmt::format("{} has {}, which is not supported", what, UnreadTypeName(type)),
           "Supported: " + ReadTypeNames() +
               ". Use another file of the model, such as its Q4_K_M or Q8_0");
    }
    tensor.format = *format;
    if (tensor.shape.back() % format->elements != 0) {
      Fail(fmt::format("{} has rows of {} elements, not whole {} blocks of {}", what,
                       tensor.shape.back(), format->name, format->elements));
    }
    if (__builtin_mul_overflow(elements / format->elements, format->bytes, &tensor.bytes)) {
      Fail(what + " has more bytes than can be counted");
    }
    offsets->push_back(Read<uint64_t>(what));
    return tensor;
  }

  // Sets each tensor's data after checking that all are inside the file and do not overlap.
  void PlaceTensors(uint64_t alignment, const std::vector<uint64_t>& offsets,
                    std::vector<GgufTensor>* tensors) const {
    if (tensors->empty()) return;
    const uint64_t begin = (position_ + alignment - 1) / alignment * alignment;
    const uint64_t available = begin < file_.size() ? file_.size() - begin : 0;
    for (size_t i = 0; i < tensors->size(); ++i) {
      GgufTensor& tensor = (*tensors)[i];
      const std::string what = "tensor " + Quote(tensor.name);
      if (offsets[i] % alignment != 0) {
        Fail(fmt::format("{} is at offset {}, which is not a multiple of the alignment {}", what,
                         offsets[i], alignment));
      }
      const auto bytes = static_cast<uint64_t>(tensor.bytes);
      if (offsets[i] > available || bytes > available - offsets[i]) {
        // The number of missing bytes is at most UINT64_MAX, because the sum could overflow.
        const uint64_t over = offsets[i] > available ? offsets[i] - available : 0;
        const uint64_t missing = over > UINT64_MAX - bytes ? UINT64_MAX
                                 : over == 0               ? bytes - (available - offsets[i])
                                                           : over + bytes;
        Fail(fmt::format("the file ends before the data of {}: {} bytes are missing (it has {})",
                         what, missing, file_.size()),
             "It is truncated or damaged: download it again");
      }
      tensor.data = file_.data() + begin + offsets[i];
    }
    CheckOverlaps(*tensors);
  }

  void CheckOverlaps(const std::vector<GgufTensor>& tensors) const {
    std::vector<const GgufTensor*> order;
    order.reserve(tensors.size());
    for (const GgufTensor& tensor : tensors) order.push_back(&tensor);
    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return a->data < b->data; });
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i - 1]->data + order[i - 1]->bytes > order[i]->data) {
        Fail("tensors " + Quote(order[i - 1]->name) + " and " + Quote(order[i]->name) + " overlap");
      }
    }
  }

  std::span<const std::byte> file_;
  const std::string& name_;
  uint64_t position_ = 0;
};

}  // namespace

GgufHeader ParseGgufHeader(std::span<const std::byte> file, const std::string& name) {
  return Parser(file, name).Parse();
}

int64_t GgufElementBytes(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUint16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    default:
      return 0;
  }
}

std::string_view ReadGgufString(const std::byte** position) {
  const auto bytes = LoadNumber<uint64_t>(*position);
  const auto* text = reinterpret_cast<const char*>(*position + sizeof bytes);
  *position += sizeof bytes + bytes;
  return {text, bytes};
}

}  // namespace midscope

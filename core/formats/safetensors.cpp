// SPDX-License-Identifier: MIT
#include "core/formats/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the reference implementation's limit
constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxShapeLength = 16;

struct Dtype {
  std::string_view name;
  int64_t bits;
};

constexpr std::array<Dtype, 20> kDtypes = {
    {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
     {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
     {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
     {"I32", 32},        {"U32", 32},    {"F32", 32},    {"F64", 64},    {"I64", 64}}};

std::optional<int64_t> Bits(std::string_view dtype) {
  if (dtype == "U64" || dtype == "C64") return 64;
  for (const Dtype& known : kDtypes) {
    if (known.name == dtype) return known.bits;
  }
  return std::nullopt;
}

// A tensor's entry in the header, unchecked.
struct Entry {
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> offsets;
  bool has_shape = false;
};

// Parses the JSON as a stream, so that only entries are built: a header of 100 MB can contain a
// hundred million numbers.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string thing) : thing_(std::move(thing)) {}
  std::map<std::string, Entry> TakeEntries() { return std::move(entries_); }
  std::map<std::string, std::string> TakeMetadata() { return std::move(metadata_); }

  bool start_object(std::size_t) override {
    if (array_ != nullptr || depth_ >= 2) Unexpected("an object");
    if (depth_ == 1 && is_metadata_) in_metadata_ = true;
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 1) {
      if (!in_metadata_) CheckComplete();
      in_metadata_ = false;
      field_.clear();
    }
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1) {
      tensor_ = text;
      is_metadata_ = text == "__metadata__";
      if (is_metadata_) {
        if (std::exchange(has_metadata_, true)) Fail("__metadata__ occurs twice");
      } else if (!entries_.try_emplace(text).second) {
        Fail("tensor " + Quote(text, 120) + " occurs twice");
      }
    } else {
      field_ = text;
      if (!in_metadata_ && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets") {
        Fail("tensor " + Quote(tensor_, 120) + " has an unknown field " + Quote(field_));
      }
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || array_ != nullptr) Unexpected("an array");
    Entry& entry = entries_[tensor_];
    if (field_ == "dtype") Unexpected("an array");
    array_ = field_ == "shape" ? &entry.shape : &entry.offsets;
    if (!array_->empty() || (field_ == "shape" && std::exchange(entry.has_shape, true))) {
      Fail("tensor " + Quote(tensor_, 120) + " has two fields " + field_);
    }
    return true;
  }
  bool end_array() override {
    array_ = nullptr;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (array_ == nullptr) Unexpected("a number");
    if (array_->size() >= kMaxShapeLength) {
      Fail(fmt::format("tensor {} has over {} numbers in {}", Quote(tensor_, 120), kMaxShapeLength,
                       field_));
    }
    array_->push_back(value);
    return true;
  }
  bool string(string_t& text) override {
    if (in_metadata_) {
      metadata_[field_] = text;
      return true;
    }
    if (depth_ != 2 || field_ != "dtype" || array_ != nullptr) Unexpected("text");
    Entry& entry = entries_[tensor_];
    if (!entry.dtype.empty()) Fail("tensor " + Quote(tensor_, 120) + " has two fields dtype");
    entry.dtype = text;
    return true;
  }
  bool null() override { return (depth_ == 1 && is_metadata_) || Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("true or false"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return Unexpected("a number with a fraction");
  }
  bool binary(binary_t&) override { return Unexpected("bytes"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    Fail(fmt::format("its header is not JSON at byte {}", position));
  }

 private:
  [[noreturn]] void Fail(const std::string& reason) const { throw Failure(thing_, reason); }
  [[noreturn]] bool Unexpected(const std::string& what) const {
    Fail("its header has " + what + " where there must be none" +
         (tensor_.empty() ? "" : " (at " + Quote(tensor_, 120) + ")"));
  }
  void CheckComplete() const {
    const Entry& entry = entries_.at(tensor_);
    if (entry.dtype.empty() || !entry.has_shape || entry.offsets.size() != 2) {
      Fail("tensor " + Quote(tensor_, 120) + " must have a dtype, a shape and two data_offsets");
    }
  }

  std::string thing_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
  std::string tensor_;
  std::string field_;
  std::vector<uint64_t>* array_ = nullptr;
  int depth_ = 0;
  bool is_metadata_ = false;
  bool in_metadata_ = false;
  bool has_metadata_ = false;
};

// Returns the bytes of a tensor of this dtype and shape; nullopt if the number overflows.
std::optional<int64_t> TensorBytes(int64_t bits, const std::vector<uint64_t>& shape) {
  __extension__ using Wide = unsigned __int128;
  Wide total = static_cast<Wide>(bits);
  // A dimension of size 0 makes the product 0, however large the other sizes are.
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  for (const uint64_t size : shape) {
    total *= size;
    if (total > static_cast<Wide>(INT64_MAX)) return std::nullopt;
  }
  if (total % 8 != 0) return std::nullopt;
  return static_cast<int64_t>(total / 8);
}

SafetensorsTensor Check(const std::string& name, const Entry& entry,
                        std::span<const std::byte> buffer, const std::string& thing) {
  const std::string tensor = "tensor " + Quote(name, 120);
  const auto bits = Bits(entry.dtype);
  if (!bits) throw Failure(thing, tensor + " has the unknown dtype " + Quote(entry.dtype));
  const uint64_t begin = entry.offsets[0];
  const uint64_t end = entry.offsets[1];
  if (begin > end || end > buffer.size()) {
    throw Failure(thing,
                  fmt::format("{} is at bytes {} to {} of {}", tensor, begin, end, buffer.size()),
                  "The file is damaged or incomplete: fetch it again");
  }
  const auto bytes = TensorBytes(*bits, entry.shape);
  if (!bytes || static_cast<uint64_t>(*bytes) != end - begin) {
    throw Failure(thing, fmt::format("{} has {} bytes, which its shape and dtype {} contradict",
                                     tensor, end - begin, entry.dtype));
  }
  SafetensorsTensor checked;
  checked.dtype = entry.dtype;
  // If one size is 0, other sizes may exceed int64: the tensor is empty, and its shape is not used.
  for (const uint64_t size : entry.shape) {
    checked.shape.push_back(static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX)));
  }
  checked.data = buffer.data() + begin;
  checked.bytes = *bytes;
  return checked;
}

// Every byte of the buffer must belong to exactly one tensor.
void CheckLayout(const SafetensorsTensors& tensors, std::span<const std::byte> buffer,
                 const std::string& thing) {
  std::vector<const SafetensorsTensors::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.data, a->second.bytes) < std::pair(b->second.data, b->second.bytes);
  });
  const std::byte* next = buffer.data();
  for (const auto* tensor : order) {
    if (tensor->second.data != next) {
      throw Failure(thing, "tensor " + Quote(tensor->first, 120) +
                               (tensor->second.data < next ? " overlaps the one before it"
                                                           : " leaves a gap before it"));
    }
    next += tensor->second.bytes;
  }
  const auto left = static_cast<int64_t>(buffer.size()) - (next - buffer.data());
  if (left != 0) {
    throw Failure(thing, fmt::format("{} bytes at its end belong to no tensor", left));
  }
}

std::string_view HeaderText(std::span<const std::byte> bytes, const std::string& thing) {
  uint64_t length = 0;
  if (bytes.size() < kLengthBytes) {
    throw Failure(thing,
                  fmt::format("is {} bytes long, too short for a safetensors file", bytes.size()));
  }
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeader) {
    throw Failure(thing,
                  fmt::format("its header is {} bytes long, more than {}", length, kMaxHeader),
                  "Is it a safetensors file?");
  }
  if (length > bytes.size() - kLengthBytes) {
    throw Failure(thing,
                  fmt::format("its header is {} bytes long; {} bytes are missing", length,
                              length - (bytes.size() - kLengthBytes)),
                  "The file is incomplete: fetch it again");
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + kLengthBytes),
                              static_cast<size_t>(length));
  if (!text.starts_with('{')) throw Failure(thing, "its header does not begin with {");
  CheckUtf8(thing + ", header", text);
  return text;
}

}  // namespace

SafetensorsTensors ParseSafetensorsHeader(std::span<const std::byte> bytes,
                                          const std::string& thing) {
  const std::string_view text = HeaderText(bytes, thing);
  HeaderReader reader(thing);
  nlohmann::json::sax_parse(text, &reader);
  const std::span<const std::byte> buffer = bytes.subspan(kLengthBytes + text.size());
  SafetensorsTensors tensors;
  for (const auto& [name, entry] : reader.TakeEntries()) {
    tensors.emplace(name, Check(name, entry, buffer, thing));
  }
  CheckLayout(tensors, buffer, thing);
  return tensors;
}

std::map<std::string, std::string> SafetensorsMetadata(std::span<const std::byte> bytes,
                                                       const std::string& thing) {
  HeaderReader reader(thing);
  nlohmann::json::sax_parse(HeaderText(bytes, thing), &reader);
  return reader.TakeMetadata();
}

namespace {

// The tensors begin at a multiple of this number of bytes.
constexpr size_t kAlignment = 8;

std::string HeaderOf(const SafetensorsTensors& tensors,
                     const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = {{"__metadata__", metadata}};
  header["__metadata__"]["format"] = "pt";
  int64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {begin, begin + tensor.bytes}}};
    begin += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

// Flushes the file to the disk. Returns false, with errno, if that failed.
bool Synchronised(const std::filesystem::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.get() >= 0 && fsync(file.get()) == 0;
}

}  // namespace

void WriteSafetensors(const std::filesystem::path& path, const SafetensorsTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::filesystem::path partial = path.string() + ".partial";
  const std::string header = HeaderOf(tensors, metadata);
  const uint64_t length = header.size();
  std::ofstream file(partial, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const auto& [name, tensor] : tensors)
    file.write(reinterpret_cast<const char*>(tensor.data), tensor.bytes);
  file.close();
  std::error_code failed;
  if (!file || !Synchronised(partial)) {
    failed = std::error_code(errno, std::generic_category());
  } else {
    std::filesystem::rename(partial, path, failed);
  }
  if (!failed) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Failure(path.string(), "it cannot be written: " + failed.message(),
                "Check the folder's permissions and the free space");
}

}  // namespace midscope

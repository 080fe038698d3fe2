// SPDX-License-Identifier: MIT
#include "probes/serve/wire_arrays.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace midscope {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the protocol's arrays are little-endian");

const char* DtypeOf(const ArrayData& data) {
  constexpr const char* kNames[] = {"float32", "float64", "int64", "bool", "str"};
  return kNames[data.index()];
}

// Returns the elements of an array of numbers as bytes.
std::span<const uint8_t> BytesOf(const ArrayData& data) {
  return std::visit(
      [](const auto& values) -> std::span<const uint8_t> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          throw std::logic_error("texts are sent as a list");
        } else {
          return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
        }
      },
      data);
}

Message Binary(std::span<const uint8_t> bytes) {
  return Message::binary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

template <typename T>
bool AppendAs(const std::vector<uint8_t>& bytes, std::vector<double>& values) {
  if (bytes.size() % sizeof(T) != 0) return false;
  values.reserve(bytes.size() / sizeof(T));
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    values.push_back(static_cast<double>(value));
  }
  return true;
}

Message AxisMessage(const Axis& axis) {
  Message message = {{"name", axis.name}, {"size", axis.size}, {"unit", axis.unit}};
  if (!axis.labels.empty()) message["labels"] = axis.labels;
  if (!axis.values.empty()) message["values"] = axis.values;
  return message;
}

}  // namespace

int64_t HeldArrays::Hold(ArrayData elements) {
  arrays_.emplace(++last_, std::move(elements));
  return last_;
}

Message HeldArrays::Read(int64_t handle, int64_t begin, int64_t count) const {
  const auto found = arrays_.find(handle);
  if (found == arrays_.end()) {
    throw UsageError("handle", fmt::format("{} is not that of an array", handle),
                     "Read an array before it is released");
  }
  const std::span<const uint8_t> bytes = BytesOf(found->second);
  if (begin < 0 || count < 0 || begin > std::ssize(bytes)) {
    throw UsageError("read_array", "the range is outside the array",
                     fmt::format("The array has {} bytes", bytes.size()));
  }
  const auto first = static_cast<size_t>(begin);
  return Binary(bytes.subspan(
      first, std::min({static_cast<size_t>(count), bytes.size() - first, kInlineBytes})));
}

template <typename AnyArray>
Message WireWriter::WriteArray(const Record& record, AnyArray& array) {
  Message shape = Message::array();
  for (const std::string& axis : array.axes) shape.push_back(record.FindAxis(axis)->size);
  Message message = {{"name", array.name},        {"dtype", DtypeOf(array.data)},
                     {"shape", std::move(shape)}, {"dims", array.axes},
                     {"unit", array.unit},        {"description", array.description}};
  if (const auto* texts = std::get_if<std::vector<std::string>>(&array.data)) {
    message["data"] = *texts;
    return message;
  }
  const std::span<const uint8_t> bytes = BytesOf(array.data);
  if (inline_bytes_ + bytes.size() <= kInlineBytes) {
    inline_bytes_ += bytes.size();
    message["data"] = Binary(bytes);
  } else {
    message["bytes"] = bytes.size();
    message["handle"] = held_.Hold(std::move(array.data));  // copies from a constant array
  }
  return message;
}

template <typename AnyRecord>
Message WireWriter::WriteRecord(AnyRecord& record) {
  Message axes = Message::array();
  for (const Axis& axis : record.axes) axes.push_back(AxisMessage(axis));
  Message arrays = Message::array();
  for (auto& array : record.arrays) arrays.push_back(WriteArray(record, array));
  Message attributes = Message::object();
  for (const auto& [name, value] : record.attributes) {
    std::visit([&, &key = name](const auto& one) { attributes[key] = one; }, value);
  }
  return {{"name", record.name},
          {"axes", std::move(axes)},
          {"arrays", std::move(arrays)},
          {"attributes", std::move(attributes)},
          {"signal", record.signal}};
}

Message WireWriter::Write(const std::vector<Record>& records) {
  Message list = Message::array();
  for (const Record& record : records) list.push_back(WriteRecord(record));
  return list;
}

Message WireWriter::Write(std::vector<Record>&& records) {
  Message list = Message::array();
  for (Record& record : records) list.push_back(WriteRecord(record));
  return list;
}

WireNumbers ReadNumbers(const Message& array, const std::string& thing) {
  const auto fail = [&](const std::string& reason) -> Error {
    return UsageError(thing, reason, "Send {dtype, shape, data} with little-endian bytes");
  };
  if (!array.is_object() || !array.contains("dtype") || !array.contains("shape") ||
      !array.contains("data") || !array["dtype"].is_string() || !array["shape"].is_array() ||
      !array["data"].is_binary()) {
    throw fail("it must be an array of numbers");
  }
  WireNumbers numbers;
  uint64_t count = 1;
  for (const Message& size : array["shape"]) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > kInlineBytes) {
      throw fail("its shape must consist of sizes");
    }
    numbers.shape.push_back(size.get<int64_t>());
    count = std::min<uint64_t>(count * size.get<uint64_t>(), uint64_t{1} << 40);
  }
  const std::vector<uint8_t>& bytes = array["data"].get_binary();
  const std::string dtype = array["dtype"];
  const bool known = dtype == "float32"   ? AppendAs<float>(bytes, numbers.values)
                     : dtype == "float64" ? AppendAs<double>(bytes, numbers.values)
                     : dtype == "int64"   ? AppendAs<int64_t>(bytes, numbers.values)
                     : dtype == "int32"   ? AppendAs<int32_t>(bytes, numbers.values)
                     : dtype == "bool"    ? AppendAs<uint8_t>(bytes, numbers.values)
                                          : false;
  if (!known || numbers.values.size() != count) {
    throw fail(
        "its dtype must be float32, float64, int32, int64 or bool, and its bytes must "
        "match its shape");
  }
  return numbers;
}

}  // namespace midscope

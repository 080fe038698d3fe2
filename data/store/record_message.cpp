// SPDX-License-Identifier: MIT
#include "data/store/record_message.h"

#include <bit>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/json_depth.h"
#include "data/store/frame_check.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the journal holds native numbers");

Json EncodeData(const ArrayData& data) {
  return std::visit(
      [](const auto& values) -> Json {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          // Keeps texts that are not valid UTF-8: MessagePack preserves them, and this value is
          // never printed as JSON.
          return values;
        } else {
          std::vector<uint8_t> bytes(values.size() * sizeof(T));
          if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
          return Json::binary(std::move(bytes));
        }
      },
      data);
}

template <typename T>
std::vector<T> DecodeNumbers(const Json& json) {
  const std::vector<uint8_t>& bytes = json.get_binary();
  if (bytes.size() % sizeof(T) != 0) throw std::runtime_error("a broken block of numbers");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Decodes the data of an array. `kind`: index of the element type in the variant ArrayData.
ArrayData DecodeData(const Json& json, int64_t kind) {
  switch (kind) {
    case 0:
      return DecodeNumbers<float>(json);
    case 1:
      return DecodeNumbers<double>(json);
    case 2:
      return DecodeNumbers<int64_t>(json);
    case 3:
      return DecodeNumbers<uint8_t>(json);
    case 4:
      return json.get<std::vector<std::string>>();
    default:
      throw std::runtime_error("an array of unknown type");
  }
}

Json EncodeRecord(const Record& record) {
  Json axes = Json::array();
  for (const Axis& axis : record.axes) {
    axes.push_back({axis.name, axis.size, axis.unit, axis.labels, EncodeData(axis.values)});
  }
  Json arrays = Json::array();
  for (const Array& array : record.arrays) {
    arrays.push_back({array.name, array.axes, array.data.index(), EncodeData(array.data),
                      array.unit, array.description});
  }
  Json attributes = Json::object();
  for (const auto& [name, value] : record.attributes) {
    std::visit([&, &key = name](const auto& held) { attributes[key] = held; }, value);
  }
  return {{"name", record.name},
          {"signal", record.signal},
          {"axes", std::move(axes)},
          {"arrays", std::move(arrays)},
          {"attributes", std::move(attributes)}};
}

Attribute DecodeAttribute(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return json.get<double>();
  return json.get<int64_t>();
}

Record DecodeRecord(const Json& json) {
  Record record;
  record.name = json.at("name").get<std::string>();
  record.signal = json.at("signal").get<std::string>();
  for (const Json& axis : json.at("axes")) {
    record.axes.push_back(
        {axis.at(0).get<std::string>(), axis.at(1).get<int64_t>(), axis.at(2).get<std::string>(),
         axis.at(3).get<std::vector<std::string>>(), DecodeNumbers<double>(axis.at(4))});
  }
  for (const Json& array : json.at("arrays")) {
    record.arrays.push_back({array.at(0).get<std::string>(),
                             array.at(1).get<std::vector<std::string>>(),
                             DecodeData(array.at(3), array.at(2).get<int64_t>()),
                             array.at(4).get<std::string>(), array.at(5).get<std::string>()});
  }
  for (const auto& [name, value] : json.at("attributes").items()) {
    record.attributes[name] = DecodeAttribute(value);
  }
  return record;
}

// Limit for the bytes of one sample (16 GiB).
constexpr int64_t kLargestSampleBytes = int64_t{1} << 34;

Record CheckedRecord(Record record) {
  CheckFrame(record, kLargestSampleBytes);
  record.Check();
  return record;
}

// Parses MessagePack bytes, passes the result to `decode`, and converts exceptions to Error.
template <typename Decode>
auto Decoded(const std::string& file, std::span<const uint8_t> bytes, const Decode& decode) {
  try {
    if (!MessagePackNestsWithin(bytes)) throw std::runtime_error("it is cut off or nests deeply");
    return decode(Json::from_msgpack(bytes.begin(), bytes.end()));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // from the JSON library and the checks above
    throw Failure(file, std::string("holds an entry that cannot be read: ") + error.what());
  }
}

constexpr const char* kKindNames[] = {"plan", "sample", "failure"};

}  // namespace

std::vector<uint8_t> EncodeEntry(const JournalEntry& entry) {
  Json json = {{"kind", kKindNames[static_cast<size_t>(entry.kind)]}};
  if (entry.kind != JournalEntry::Kind::kPlan) json["sample"] = entry.sample;
  if (entry.kind == JournalEntry::Kind::kSample) {
    json["record"] = EncodeRecord(entry.record);
  } else {
    json["text"] = entry.text;
  }
  return Json::to_msgpack(json);
}

JournalEntry DecodeEntry(const std::string& file, std::span<const uint8_t> bytes) {
  return Decoded(file, bytes, [](const Json& json) -> JournalEntry {
    const auto kind = json.at("kind").get<std::string>();
    if (kind == "plan") {
      return {JournalEntry::Kind::kPlan, 0, json.at("text").get<std::string>(), {}};
    }
    const auto sample = json.at("sample").get<int64_t>();
    if (kind == "failure") {
      return {JournalEntry::Kind::kFailure, sample, json.at("text").get<std::string>(), {}};
    }
    return {JournalEntry::Kind::kSample, sample, "",
            CheckedRecord(DecodeRecord(json.at("record")))};
  });
}

std::vector<uint8_t> EncodeFrame(const Record& frame) {
  return Json::to_msgpack(EncodeRecord(frame));
}

Record DecodeFrame(const std::string& file, std::span<const uint8_t> bytes) {
  return Decoded(file, bytes, [](const Json& json) { return DecodeRecord(json); });
}

}  // namespace midscope

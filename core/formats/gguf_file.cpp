// SPDX-License-Identifier: MIT
#include "core/formats/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/formats/gguf_header.h"

namespace midscope {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
    "bool",  "string", "array",  "uint64", "int64",  "float64"};

bool IsInteger(GgufType type) {
  return type != GgufType::kFloat32 && type != GgufType::kFloat64 && type != GgufType::kBool &&
         type != GgufType::kString && type != GgufType::kArray;
}

bool IsFloat(GgufType type) { return type == GgufType::kFloat32 || type == GgufType::kFloat64; }

// Reads an integer of this type at `position`; nullopt for a uint64 beyond the range of int64.
std::optional<int64_t> LoadInteger(GgufType type, const std::byte* position) {
  switch (type) {
    case GgufType::kUint8:
      return LoadNumber<uint8_t>(position);
    case GgufType::kInt8:
      return LoadNumber<int8_t>(position);
    case GgufType::kUint16:
      return LoadNumber<uint16_t>(position);
    case GgufType::kInt16:
      return LoadNumber<int16_t>(position);
    case GgufType::kUint32:
      return LoadNumber<uint32_t>(position);
    case GgufType::kInt32:
      return LoadNumber<int32_t>(position);
    case GgufType::kInt64:
      return LoadNumber<int64_t>(position);
    default: {
      const auto value = LoadNumber<uint64_t>(position);
      if (!std::in_range<int64_t>(value)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
  }
}

constexpr std::string_view kShardNumber = "split.no";  // counted from 0
constexpr std::string_view kShardCount = "split.count";
constexpr std::string_view kShardTensors = "split.tensors.count";  // the total of all shards

// Parses the name of `path`, from which the other shards' names are derived. Throws Error if it is
// not the name of the first of `count` shards. `number`: the number in its metadata, from 0.
GgufShardName NameOfFirstShard(const std::filesystem::path& path, int64_t number, int64_t count) {
  const auto name = ParseGgufShardName(path.filename().string());
  const bool named = name && name->count == count;
  if (number != 0) {
    throw Failure(
        path.string(),
        fmt::format("it is shard {} of {} of a model, which is opened by its first shard",
                    number + 1, count),
        "Name the first" + (named ? ": " + (path.parent_path() / name->OfShard(1)).string() : ""));
  }
  if (named && name->number == 1) return *name;
  throw Failure(path.string(),
                fmt::format("it is the first of {} shards of a model, and the others are found by "
                            "its name, which must end in -00001-of-{:05}.gguf",
                            count, count),
                "Rename it, or join the shards: llama-gguf-split --merge FIRST JOINED");
}

double LoadFloat(GgufType type, const std::byte* position) {
  return type == GgufType::kFloat32 ? double{LoadNumber<float>(position)}
                                    : LoadNumber<double>(position);
}

}  // namespace

int64_t GgufTensor::elements() const { return bytes / format.bytes * format.elements; }

std::string_view GgufTypeName(GgufType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypeNames.size() ? kTypeNames.at(index) : "unknown";
}

GgufFile::GgufFile(const std::filesystem::path& path) {
  GgufHeader header = ParseGgufHeader(maps_.emplace_back(path).bytes(), path.string());
  version_ = header.version;
  values_ = std::move(header.values);
  AddTensors(std::move(header.tensors));
  if (const int64_t count = GetInt(kShardCount).value_or(0); count > 1) OpenOtherShards(count);
}

// Adds the tensors of the most recently opened file.
void GgufFile::AddTensors(std::vector<GgufTensor> tensors) {
  for (GgufTensor& tensor : tensors) {
    if (!tensor_indices_.emplace(tensor.name, tensors_.size()).second) {
      throw Failure(maps_.back().path().string(),
                    "tensor " + Quote(tensor.name) + " occurs twice" +
                        (maps_.size() > 1 ? " in the shards of the model" : ""));
    }
    tensors_.push_back(std::move(tensor));
  }
}

void GgufFile::OpenOtherShards(int64_t count) {
  const GgufShardName name = NameOfFirstShard(path(), GetInt(kShardNumber).value_or(0), count);
  const auto tensors = GetInt(kShardTensors);
  for (int64_t shard = 2; shard <= count; ++shard) {
    const std::filesystem::path other = path().parent_path() / name.OfShard(shard);
    std::error_code error;
    if (!std::filesystem::exists(other, error)) {
      throw Failure(other.string(),
                    fmt::format("this file is missing: shard {} of {} of the model", shard, count),
                    fmt::format("Put all {} files of the model into one folder", count));
    }
    // Opens another shard; its metadata states its number.
    GgufHeader header = ParseGgufHeader(maps_.emplace_back(other).bytes(), other.string());
    const auto number = [&](std::string_view key) -> std::optional<int64_t> {
      const auto found = header.values.find(key);
      if (found == header.values.end()) return std::nullopt;
      if (found->second.is_array || !IsInteger(found->second.type)) return std::nullopt;
      return LoadInteger(found->second.type, found->second.data);
    };
    if (number(kShardNumber) != shard - 1 || number(kShardCount) != count ||
        number(kShardTensors) != tensors) {
      throw Failure(other.string(),
                    fmt::format("it is not shard {} of {} of the same model as {}", shard, count,
                                Quote(file_name(), 120)),
                    "Fetch all files of the model again");
    }
    AddTensors(std::move(header.tensors));
  }
  if (tensors && *tensors != std::ssize(tensors_)) {
    throw Failure(path().string(),
                  fmt::format("its {} shards have {} tensors; {} is {}", count, tensors_.size(),
                              kShardTensors, *tensors),
                  "Fetch all files of the model again");
  }
}

std::vector<std::string> GgufFile::Keys() const {
  std::vector<std::string> keys;
  keys.reserve(values_.size());
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

const GgufValue* GgufFile::FindValue(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const GgufValue* GgufFile::FindTyped(std::string_view key, bool array,
                                     std::string_view wanted) const {
  const GgufValue* value = FindValue(key);
  if (value == nullptr) return nullptr;
  const bool fits = value->is_array == array && ((wanted == "integer" && IsInteger(value->type)) ||
                                                 (wanted == "float" && IsFloat(value->type)) ||
                                                 wanted == GgufTypeName(value->type));
  if (fits) return value;
  const auto kind = [](bool is_array, std::string_view type) {
    return (is_array ? "an array of " : "a single ") + std::string(type);
  };
  throw Failure(path().string(), std::string(key) + " is " +
                                     kind(value->is_array, GgufTypeName(value->type)) +
                                     "; it must be " + kind(array, wanted));
}

std::optional<int64_t> GgufFile::GetInt(std::string_view key) const {
  const GgufValue* value = FindTyped(key, false, "integer");
  if (value == nullptr) return std::nullopt;
  const auto number = LoadInteger(value->type, value->data);
  if (!number) throw Failure(path().string(), std::string(key) + " is too large a number");
  return number;
}

std::optional<double> GgufFile::GetFloat(std::string_view key) const {
  const GgufValue* value = FindTyped(key, false, "float");
  if (value == nullptr) return std::nullopt;
  return LoadFloat(value->type, value->data);
}

std::optional<bool> GgufFile::GetBool(std::string_view key) const {
  const GgufValue* value = FindTyped(key, false, "bool");
  if (value == nullptr) return std::nullopt;
  return *value->data != std::byte{0};
}

std::optional<std::string> GgufFile::GetString(std::string_view key) const {
  const GgufValue* value = FindTyped(key, false, "string");
  if (value == nullptr) return std::nullopt;
  const std::byte* position = value->data;
  std::string text(ReadGgufString(&position));
  CheckUtf8(path().string() + ": metadata " + Quote(key), text);
  return text;
}

std::optional<std::vector<std::string_view>> GgufFile::GetStringArray(std::string_view key) const {
  const GgufValue* value = FindTyped(key, true, "string");
  if (value == nullptr) return std::nullopt;
  std::vector<std::string_view> texts(static_cast<size_t>(value->count));
  const std::byte* position = value->data;
  for (std::string_view& text : texts) text = ReadGgufString(&position);
  return texts;
}

std::optional<std::vector<bool>> GgufFile::GetBoolArray(std::string_view key) const {
  const GgufValue* value = FindTyped(key, true, "bool");
  if (value == nullptr) return std::nullopt;
  std::vector<bool> flags(static_cast<size_t>(value->count));
  for (size_t i = 0; i < flags.size(); ++i) flags[i] = value->data[i] != std::byte{0};
  return flags;
}

std::optional<std::vector<int64_t>> GgufFile::GetIntArray(std::string_view key) const {
  const GgufValue* value = FindTyped(key, true, "integer");
  if (value == nullptr) return std::nullopt;
  std::vector<int64_t> numbers(static_cast<size_t>(value->count));
  const std::byte* position = value->data;
  for (int64_t& number : numbers) {
    const auto loaded = LoadInteger(value->type, position);
    if (!loaded) throw Failure(path().string(), std::string(key) + " holds too large a number");
    number = *loaded;
    position += GgufElementBytes(value->type);
  }
  return numbers;
}

std::optional<std::vector<double>> GgufFile::GetFloatArray(std::string_view key) const {
  const GgufValue* value = FindTyped(key, true, "float");
  if (value == nullptr) return std::nullopt;
  std::vector<double> numbers(static_cast<size_t>(value->count));
  const std::byte* position = value->data;
  for (double& number : numbers) {
    number = LoadFloat(value->type, position);
    position += GgufElementBytes(value->type);
  }
  return numbers;
}

const GgufTensor* GgufFile::Find(std::string_view name) const {
  const auto found = tensor_indices_.find(name);
  return found == tensor_indices_.end() ? nullptr : &tensors_[found->second];
}

const GgufTensor& GgufFile::Require(std::string_view name) const {
  const GgufTensor* tensor = Find(name);
  if (tensor == nullptr) {
    throw Failure(path().string(), "has no tensor " + Quote(name),
                  "The file is incomplete: convert the model again");
  }
  return *tensor;
}

void GgufFile::DontNeed(const std::byte* data, int64_t bytes) const noexcept {
  DontNeedInside(maps_, data, bytes);
}

namespace {

constexpr size_t kDigits = 5;

// Removes a five-digit number and the `separator` before it from the end of `text`, and returns the
// number; 0 if `text` does not end in this way.
int64_t TakeNumber(std::string_view separator, std::string_view* text) {
  const size_t size = separator.size() + kDigits;
  if (text->size() < size) return 0;
  const std::string_view end = text->substr(text->size() - size);
  const std::string_view digits = end.substr(separator.size());
  if (!end.starts_with(separator) || !std::all_of(digits.begin(), digits.end(), IsDigit)) return 0;
  text->remove_suffix(size);
  return std::stoll(std::string(digits));
}

}  // namespace

std::string GgufShardName::OfShard(int64_t shard) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, shard, count);
}

std::optional<GgufShardName> ParseGgufShardName(std::string_view file_name) {
  constexpr std::string_view kEnding = ".gguf";
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  file_name.remove_suffix(kEnding.size());
  const int64_t count = TakeNumber("-of-", &file_name);
  const int64_t number = count == 0 ? 0 : TakeNumber("-", &file_name);
  if (number < 1 || number > count) return std::nullopt;
  return GgufShardName{std::string(file_name), number, count};
}

bool IsLaterGgufShard(std::string_view file_name) {
  const auto name = ParseGgufShardName(file_name);
  return name && name->number > 1;
}

std::vector<std::filesystem::path> GgufModelsAmong(std::vector<std::filesystem::path> files) {
  std::erase_if(files, [](const std::filesystem::path& file) {
    return file.extension() != ".gguf" || IsLaterGgufShard(file.filename().string());
  });
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace midscope

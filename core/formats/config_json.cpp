// SPDX-License-Identifier: MIT
#include "core/formats/config_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/memory_map.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr int64_t kMaxConfigBytes = 16 << 20;

// Returns the value as written in the file, for messages.
std::string ValueText(const nlohmann::json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (value.is_string()) return Quote(value.get_ref<const std::string&>());
  return value.dump();
}

}  // namespace

ConfigJson::ConfigJson(std::string thing, std::string prefix,
                       std::shared_ptr<const nlohmann::json> root, const nlohmann::json* object)
    : thing_(std::move(thing)),
      prefix_(std::move(prefix)),
      root_(std::move(root)),
      object_(object) {}

ConfigJson ConfigJson::Read(const std::filesystem::path& path) {
  const MemoryMap map(path);
  const std::string thing = path.string();
  if (map.size() > kMaxConfigBytes) {
    throw Failure(thing, fmt::format("is {} bytes long; a configuration has at most {}", map.size(),
                                     kMaxConfigBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(map.data()),
                              static_cast<size_t>(map.size()));
  return Parse(text, thing);
}

ConfigJson ConfigJson::Parse(std::string_view text, const std::string& thing) {
  CheckUtf8(thing, text);
  auto root = std::make_shared<const nlohmann::json>(ParsePythonJson(text, thing));
  if (!root->is_object()) throw Failure(thing, "is not a JSON object");
  const nlohmann::json* object = root.get();
  return {thing, "", std::move(root), object};
}

void ConfigJson::Fail(const std::string& reason, const std::string& remedy) const {
  throw Failure(thing_, reason, remedy);
}

std::string ConfigJson::Name(std::string_view key) const { return prefix_ + std::string(key); }

const nlohmann::json* ConfigJson::Find(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigJson::Has(std::string_view key) const { return Find(key) != nullptr; }

bool ConfigJson::IsSet(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0;
  if (value->is_string()) return !value->get_ref<const std::string&>().empty();
  return !value->empty();
}

bool ConfigJson::IsNull(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found != object_->end() && found->is_null();
}

bool ConfigJson::IsMinusOne(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  return value != nullptr && *value == -1;
}

int64_t ConfigJson::Count(std::string_view key, int64_t max,
                          std::optional<int64_t> otherwise) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) {
    if (!otherwise) Fail(Name(key) + " is missing");
    if (*otherwise >= 1 && *otherwise <= max) return *otherwise;
    Fail(fmt::format("{} is missing, and follows from others as {}; it must be from 1 to {}",
                     Name(key), *otherwise, max));
  }
  // Accepts integers with a fraction of zero (2.0), which some programs write.
  const double number = value->is_number() ? value->get<double>() : -1.0;
  if (!(number >= 1.0) || number > static_cast<double>(max) || std::floor(number) != number) {
    Fail(fmt::format("{} is {}; it must be an integer from 1 to {}", Name(key), ValueText(*value),
                     max));
  }
  return static_cast<int64_t>(number);
}

int64_t ConfigJson::CountOrZero(std::string_view key, int64_t max, int64_t otherwise) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  return *value == 0 ? 0 : Count(key, max);
}

int64_t ConfigJson::CountOfAll(std::string_view key, int64_t max, int64_t otherwise) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr || !value->is_array()) return Count(key, max, otherwise);
  const std::vector<int64_t> counts = Indices(key, max);
  if (counts.empty() || counts[0] == 0) Fail(Name(key) + " must hold integers from 1");
  for (const int64_t count : counts) {
    if (count != counts[0]) Fail(Name(key) + " differs between layers, which is not supported yet");
  }
  return counts[0];
}

double ConfigJson::Positive(std::string_view key, std::optional<double> otherwise) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) {
    if (!otherwise) Fail(Name(key) + " is missing");
    return *otherwise;
  }
  const double number = value->is_number() ? value->get<double>() : 0.0;
  if (!std::isfinite(number) || number <= 0.0) {
    Fail(Name(key) + " is " + ValueText(*value) + "; it must be a positive number");
  }
  return number;
}

double ConfigJson::PositiveOrZero(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr || (value->is_number() && value->get<double>() == 0.0)) return 0.0;
  return Positive(key);
}

bool ConfigJson::Flag(std::string_view key, bool otherwise) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) {
    Fail(Name(key) + " is " + ValueText(*value) + "; it must be true or false");
  }
  return value->get<bool>();
}

std::string ConfigJson::Text(std::string_view key, const std::string& otherwise) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) Fail(Name(key) + " is " + ValueText(*value) + "; it must be text");
  return value->get<std::string>();
}

const nlohmann::json* ConfigJson::FindArray(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  if (value != nullptr && !value->is_array()) {
    Fail(Name(key) + " is " + ValueText(*value) + "; it must be an array");
  }
  return value;
}

std::vector<double> ConfigJson::Positives(std::string_view key) const {
  std::vector<double> numbers;
  const nlohmann::json* array = FindArray(key);
  if (array == nullptr) return numbers;
  for (const nlohmann::json& value : *array) {
    const double number = value.is_number() ? value.get<double>() : 0.0;
    if (!std::isfinite(number) || number <= 0.0) {
      Fail(Name(key) + " holds " + ValueText(value) + "; it must hold positive numbers");
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<int64_t> ConfigJson::Indices(std::string_view key, int64_t max) const {
  std::vector<int64_t> indices;
  const nlohmann::json* array = FindArray(key);
  if (array == nullptr) return indices;
  for (const nlohmann::json& value : *array) {
    const bool fits =
        value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(max);
    if (!fits) {
      Fail(Name(key) + " holds " + ValueText(value) + "; it must hold integers from 0 to " +
           std::to_string(max));
    }
    indices.push_back(value.get<int64_t>());
  }
  return indices;
}

std::vector<int64_t> ConfigJson::Flags(std::string_view key) const {
  std::vector<int64_t> flags;
  const nlohmann::json* array = FindArray(key);
  if (array == nullptr) return flags;
  for (const nlohmann::json& value : *array) {
    if (!value.is_boolean() && value != 0 && value != 1) {
      Fail(Name(key) + " holds " + ValueText(value) + "; it must hold zeros and ones");
    }
    flags.push_back(value.is_boolean() ? int64_t{value.get<bool>()} : value.get<int64_t>());
  }
  return flags;
}

std::vector<std::string> ConfigJson::Texts(std::string_view key) const {
  std::vector<std::string> texts;
  const nlohmann::json* array = FindArray(key);
  if (array == nullptr) return texts;
  for (const nlohmann::json& value : *array) {
    if (!value.is_string()) Fail(Name(key) + " holds " + ValueText(value) + "; it must hold texts");
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::optional<ConfigJson> ConfigJson::Object(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    Fail(Name(key) + " is " + ValueText(*value) + "; it must be an object");
  }
  return ConfigJson(thing_, Name(key) + ".", root_, value);
}

bool ConfigJson::IsUnlimited(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  return value == nullptr || *value == nlohmann::json{0.0, {{"__float__", "Infinity"}}};
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// A configuration in JSON (config.json, or an object within it), read with checks: a value is
// either valid, or causes an Error that names the file, the key and the requirement.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

class ConfigJson {
 public:
  // Throws Error if the file cannot be read, exceeds 16 MiB, or is not UTF-8, not JSON or not an
  // object.
  static ConfigJson Read(const std::filesystem::path& path);

  // Parses text; `thing` names it in messages. Throws Error if it is not a JSON object.
  static ConfigJson Parse(std::string_view text, const std::string& thing);

  // Returns "DIR/config.json", for messages.
  const std::string& thing() const { return thing_; }
  [[noreturn]] void Fail(const std::string& reason, const std::string& remedy = "") const;
  // Returns a key's full name for messages: "rope_scaling.factor" in a nested object.
  std::string Name(std::string_view key) const;

  bool Has(std::string_view key) const;     // present and not null
  bool IsNull(std::string_view key) const;  // present and null
  bool IsMinusOne(std::string_view key) const;
  // Whether the key is present, of any type, and neither null, false, 0 nor empty.
  bool IsSet(std::string_view key) const;

  // The getters return the value of a key, or `otherwise` if the key is absent or null. They throw
  // Error if there is no `otherwise`, or if the value has another type or is out of range.
  int64_t Count(std::string_view key, int64_t max,
                std::optional<int64_t> otherwise = std::nullopt) const;  // 1 to max
  int64_t CountOrZero(std::string_view key, int64_t max, int64_t otherwise) const;
  // Returns an integer from 1 to max, which may also be an array of equal numbers, one per layer.
  int64_t CountOfAll(std::string_view key, int64_t max, int64_t otherwise) const;
  double Positive(std::string_view key, std::optional<double> otherwise = std::nullopt) const;
  double PositiveOrZero(std::string_view key) const;  // 0 if absent, null or 0
  bool Flag(std::string_view key, bool otherwise) const;
  std::string Text(std::string_view key, const std::string& otherwise) const;

  // Getters of arrays return an empty array if the key is absent or null.
  std::vector<double> Positives(std::string_view key) const;
  std::vector<int64_t> Indices(std::string_view key, int64_t max) const;  // each 0 to max
  std::vector<int64_t> Flags(
      std::string_view key) const;  // numbers or booleans; returned as 0 or 1
  std::vector<std::string> Texts(std::string_view key) const;
  std::optional<ConfigJson> Object(std::string_view key) const;
  // Whether the range at `key` has no limits: it is absent, null, or from 0 to infinity, which
  // transformers 5 writes as an object.
  bool IsUnlimited(std::string_view key) const;

 private:
  ConfigJson(std::string thing, std::string prefix, std::shared_ptr<const nlohmann::json> root,
             const nlohmann::json* object);
  const nlohmann::json* Find(std::string_view key) const;  // null if absent or JSON's null
  const nlohmann::json* FindArray(std::string_view key) const;

  std::string thing_;
  std::string prefix_;
  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* object_;  // points into root_
};

}  // namespace midscope

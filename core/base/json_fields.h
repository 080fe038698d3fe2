// SPDX-License-Identifier: MIT
// Reads fields of JSON from outside the program. A value of the wrong type is an Error that names
// the field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {

class JsonFields {
 public:
  // thing: the file's name in messages; where: the path of `json` inside that file ("normalizer").
  JsonFields(const nlohmann::json& json, std::string thing, std::string where)
      : json_(json), thing_(std::move(thing)), where_(std::move(where)) {
    if (!json.is_object()) Fail("must be an object");
  }

  [[noreturn]] void Fail(const std::string& reason) const {
    throw Failure(thing_, (where_.empty() ? "it " : "its " + where_ + " ") + reason);
  }
  const std::string& thing() const { return thing_; }
  const std::string& where() const { return where_; }
  const nlohmann::json& json() const { return json_; }

  // Throws Error if the object has a field that is not in `known`.
  void RefuseOthers(const std::vector<std::string>& known) const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      Fail("has an unknown field " + Quote(key) + ". " + KnownWordsHint(key, known));
    }
  }

  // Returns the field's value; null if the field is absent or JSON's null.
  const nlohmann::json* Find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  const nlohmann::json& Need(const std::string& key) const {
    const nlohmann::json* found = Find(key);
    if (found == nullptr) Fail("has no " + Quote(key));
    return *found;
  }

  std::optional<std::string> FindText(const std::string& key) const {
    const nlohmann::json* found = Find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_string()) Fail("has a field " + Quote(key) + " that is not a string");
    return found->get<std::string>();
  }
  std::string Text(const std::string& key) const {
    if (const auto text = FindText(key)) return *text;
    Fail("has no " + Quote(key));
  }
  // Returns an integer from `minimum` to 2^31 - 1, or `otherwise` if the field is absent.
  int64_t Whole(const std::string& key, int64_t otherwise, int64_t minimum) const {
    const nlohmann::json* found = Find(key);
    if (found == nullptr) return otherwise;
    const bool whole = found->is_number_integer() &&
                       !(found->is_number_unsigned() && found->get<uint64_t>() > INT32_MAX);
    if (!whole || found->get<int64_t>() < minimum)
      Fail("has a '" + key + "' that is not an integer >= " + std::to_string(minimum));
    return found->get<int64_t>();
  }
  bool Flag(const std::string& key, bool otherwise) const {
    const nlohmann::json* found = Find(key);
    if (found == nullptr) return otherwise;
    if (!found->is_boolean()) Fail("has a field " + Quote(key) + " that is neither true nor false");
    return found->get<bool>();
  }
  // Returns a token id from 0 to 2^31 - 1, or nothing if the field is absent.
  std::optional<int32_t> FindId(const std::string& key) const {
    const nlohmann::json* found = Find(key);
    if (found == nullptr) return std::nullopt;
    return Id(*found, Quote(key));
  }
  int32_t Id(const nlohmann::json& value, const std::string& what) const {
    if (!value.is_number_integer() || value.is_number_float() ||
        (value.is_number_unsigned() ? value.get<uint64_t>() > INT32_MAX
                                    : value.get<int64_t>() < 0 || value.get<int64_t>() > INT32_MAX))
      Fail("has a " + what + " that is not a token id");
    return value.get<int32_t>();
  }
  JsonFields Inside(const std::string& key) const {
    return {Need(key), thing_, where_.empty() ? key : where_ + "." + key};
  }
  const nlohmann::json& Array(const std::string& key) const {
    const nlohmann::json& found = Need(key);
    if (!found.is_array()) Fail("has a field " + Quote(key) + " that is not a list");
    return found;
  }

 private:
  const nlohmann::json& json_;
  std::string thing_;
  std::string where_;
};

// Throws Error with the position and the reason if `text` is not JSON.
nlohmann::json ParseJson(std::string_view text, const std::string& thing);

// Parses JSON (see ParseJson), but reads NaN and Infinity as null. Python's json module writes and
// reads these, for instance in the config.json of transformers.
nlohmann::json ParsePythonJson(std::string_view text, const std::string& thing);
// Parses JSON with NaN and Infinity as null, and keeps the keys in the order of the text.
nlohmann::ordered_json ParseOrderedPythonJson(std::string_view text, const std::string& thing);

}  // namespace midscope

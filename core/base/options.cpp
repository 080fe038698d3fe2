// SPDX-License-Identifier: MIT
#include "core/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/nearest_word.h"
#include "core/base/number_text.h"
#include "kernels/check.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

const char* TypeWords(OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return "true or false";
    case OptionType::kInteger:
      return "a whole number";
    case OptionType::kNumber:
      return "a number";
    case OptionType::kText:
      return "text";
    case OptionType::kChoice:
      return "one of its choices";
    case OptionType::kTextList:
      return "a list of texts";
    case OptionType::kFile:
      return "a file's path";
  }
  MIDSCOPE_BUG("an option type without words");
}

bool HoldsType(const OptionValue& value, OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return std::holds_alternative<bool>(value);
    case OptionType::kInteger:
      return std::holds_alternative<int64_t>(value);
    case OptionType::kNumber:
      return std::holds_alternative<double>(value);
    case OptionType::kTextList:
      return std::holds_alternative<std::vector<std::string>>(value);
    default:
      return std::holds_alternative<std::string>(value);
  }
}

Error BadValue(const OptionDescription& option, const std::string& given,
               const std::string& remedy = "") {
  const std::string allowed = AllowedText(option);
  return UsageError("option --" + option.name,
                    "'" + given + "' is not " + TypeWords(option.type) +
                        (allowed.empty() ? "" : " (allowed: " + allowed + ")"),
                    remedy);
}

void CheckValue(const OptionDescription& option, const OptionValue& value) {
  if (!HoldsType(value, option.type)) throw BadValue(option, OptionValueText(value));
  double number = 0;
  if (option.type == OptionType::kInteger) {
    number = static_cast<double>(std::get<int64_t>(value));
  } else if (option.type == OptionType::kNumber) {
    number = std::get<double>(value);
  } else if (option.type == OptionType::kChoice) {
    const auto& text = std::get<std::string>(value);
    if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
      throw BadValue(option, text, KnownWordsHint(text, option.choices));
    }
    return;
  } else {
    return;
  }
  if (!std::isfinite(number)) throw BadValue(option, OptionValueText(value));
  if (number < option.minimum || number > option.maximum) {
    throw UsageError("option --" + option.name, OptionValueText(value) + " is out of range",
                     "Allowed: " + AllowedText(option));
  }
}

OptionValue ReadText(const OptionDescription& option, std::string_view text) {
  const std::string given(text);
  switch (option.type) {
    case OptionType::kFlag:
      if (text.empty() || text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      throw BadValue(option, given);
    case OptionType::kInteger: {
      int64_t number = 0;
      if (!ReadWhole(text, number)) throw BadValue(option, given);
      return number;
    }
    case OptionType::kNumber: {
      double number = 0;
      if (!ReadWhole(text, number)) throw BadValue(option, given);
      return number;
    }
    case OptionType::kTextList:
      return std::vector<std::string>{given};
    default:
      return given;
  }
}

Json JsonOf(const OptionValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

OptionValue ValueOf(const OptionDescription& option, const Json& json) {
  if (json.is_boolean() && json.get<bool>() && !option.value_if_bare.empty())
    return option.value_if_bare;
  if (json.is_boolean()) return json.get<bool>();
  // A number that is written without a fraction may also set a kNumber.
  if (json.is_number() && option.type == OptionType::kNumber) return json.get<double>();
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) {
      throw BadValue(option, json.dump());
    }
    return json.get<int64_t>();
  }
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array() && option.type == OptionType::kTextList &&
      std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_string(); })) {
    return json.get<std::vector<std::string>>();
  }
  throw BadValue(option, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string MarkdownCell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

}  // namespace

std::string OptionValueText(const OptionValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool held) const { return held ? "true" : "false"; }
    std::string operator()(int64_t held) const { return std::to_string(held); }
    std::string operator()(double held) const { return NumberText(held); }
    std::string operator()(const std::string& held) const { return held; }
    std::string operator()(const std::vector<std::string>& held) const {
      std::string text;
      for (size_t i = 0; i < held.size(); ++i) text += (i > 0 ? ", " : "") + held[i];
      return text;
    }
  };
  return std::visit(Visitor{}, value);
}

std::string AllowedText(const OptionDescription& option) {
  std::string text;
  if (option.type == OptionType::kChoice) {
    for (const std::string& choice : option.choices) text += (text.empty() ? "" : " | ") + choice;
  }
  if (option.type != OptionType::kInteger && option.type != OptionType::kNumber) return text;
  const bool low = std::isfinite(option.minimum);
  const bool high = std::isfinite(option.maximum);
  if (low && high) return NumberText(option.minimum) + " to " + NumberText(option.maximum);
  if (low) return "at least " + NumberText(option.minimum);
  if (high) return "at most " + NumberText(option.maximum);
  return "";
}

// Plain messages without a place in the source: a plugin can cause them, and its author reads them.
OptionSet::OptionSet(std::vector<OptionDescription> descriptions)
    : descriptions_(std::move(descriptions)), values_(descriptions_.size()) {
  for (size_t i = 0; i < descriptions_.size(); ++i) {
    const OptionDescription& option = descriptions_[i];
    for (size_t j = 0; j < i; ++j) {
      if (descriptions_[j].name == option.name) {
        throw std::logic_error("option --" + option.name + " is described twice");
      }
    }
    if (std::holds_alternative<std::monostate>(option.default_value)) continue;
    try {
      CheckValue(option, option.default_value);
    } catch (const Error& error) {
      throw std::logic_error(std::string("a default breaks its description: ") + error.what());
    }
  }
}

size_t OptionSet::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < descriptions_.size(); ++i) {
    if (descriptions_[i].name == name) return i;
  }
  MIDSCOPE_BUG("no option is described as --" + std::string(name));
}

const OptionDescription& OptionSet::Describe(std::string_view name) const {
  return descriptions_[IndexOf(name)];
}

void OptionSet::SetText(std::string_view name, std::string_view text) {
  const size_t index = IndexOf(name);
  OptionValue value = ReadText(descriptions_[index], text);
  auto* before = std::get_if<std::vector<std::string>>(&values_[index]);
  if (before && descriptions_[index].type == OptionType::kTextList) {
    before->emplace_back(text);
  } else {
    Set(name, std::move(value));
  }
}

void OptionSet::Set(std::string_view name, OptionValue value) {
  const size_t index = IndexOf(name);
  CheckValue(descriptions_[index], value);
  values_[index] = std::move(value);
}

void OptionSet::Reset(std::string_view name) { values_[IndexOf(name)] = std::monostate{}; }

const OptionValue& OptionSet::Value(std::string_view name) const {
  const size_t index = IndexOf(name);
  return IsSet(name) ? values_[index] : descriptions_[index].default_value;
}

bool OptionSet::Has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(Value(name));
}

bool OptionSet::IsSet(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(values_[IndexOf(name)]);
}

namespace {

template <typename T>
const T& Held(const OptionSet& options, std::string_view name, const T* if_absent) {
  const OptionValue& value = options.Value(name);
  if (const T* held = std::get_if<T>(&value)) return *held;
  if (if_absent && std::holds_alternative<std::monostate>(value)) return *if_absent;
  MIDSCOPE_BUG("option --" + std::string(name) + " has no value of the type asked for");
}

}  // namespace

bool OptionSet::Flag(std::string_view name) const {
  static const bool if_absent = false;
  return Held<bool>(*this, name, &if_absent);
}

int64_t OptionSet::Integer(std::string_view name) const {
  return Held<int64_t>(*this, name, nullptr);
}

double OptionSet::Number(std::string_view name) const { return Held<double>(*this, name, nullptr); }

const std::string& OptionSet::Text(std::string_view name) const {
  static const std::string if_absent;
  return Held<std::string>(*this, name, &if_absent);
}

const std::vector<std::string>& OptionSet::TextList(std::string_view name) const {
  static const std::vector<std::string> if_absent;
  return Held<std::vector<std::string>>(*this, name, &if_absent);
}

void OptionSet::CheckRequired() const {
  std::string missing;
  for (const OptionDescription& option : descriptions_) {
    if (option.required && !Has(option.name)) {
      missing += (missing.empty() ? "--" : ", --") + option.name;
    }
  }
  if (!missing.empty()) throw UsageError("options", missing + " must be given");
}

std::string OptionSet::ToJson() const {
  Json json = Json::object();
  for (const OptionDescription& option : descriptions_) {
    if (Has(option.name)) json[option.name] = JsonOf(Value(option.name));
  }
  // Paths and prompts need not be UTF-8; provenance must be written all the same.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void OptionSet::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw UsageError("options", "not a JSON object of names and values");
  std::vector<std::string> known;
  for (const OptionDescription& option : descriptions_) known.push_back(option.name);
  OptionSet changed = *this;  // all or nothing
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError("options", "unknown option '" + name + "'", KnownWordsHint(name, known));
    }
    changed.Set(name, ValueOf(changed.Describe(name), value));
  }
  *this = std::move(changed);
}

std::string OptionSet::MarkdownTable() const {
  std::string table = "| option | what it is | allowed | default |\n| --- | --- | --- | --- |\n";
  for (const OptionDescription& option : descriptions_) {
    const std::string unit = option.unit.empty() ? "" : " (" + option.unit + ")";
    std::string allowed = AllowedText(option);
    if (allowed.empty()) allowed = TypeWords(option.type);
    const std::string fallback =
        option.required ? "must be given" : OptionValueText(option.default_value);
    table += "| `--" + option.name + "` | " + MarkdownCell(option.help + unit) + " | " +
             MarkdownCell(allowed) + " | " + MarkdownCell(fallback) + " |\n";
  }
  return table;
}

}  // namespace midscope

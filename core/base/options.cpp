// SPDX-License-Identifier: MIT
#include "core/base/options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// Returns an option's name for errors.
std::string ThingOf(const Parameter& option) { return "option --" + option.name; }

}  // namespace

OptionSet::OptionSet(std::vector<Parameter> descriptions)
    : descriptions_(std::move(descriptions)), values_(descriptions_.size()) {
  for (size_t i = 0; i < descriptions_.size(); ++i) {
    const Parameter& option = descriptions_[i];
    for (size_t j = 0; j < i; ++j) {
      if (descriptions_[j].name == option.name) {
        throw std::logic_error("option --" + option.name + " is described twice");
      }
    }
    if (std::holds_alternative<std::monostate>(option.default_value)) continue;
    try {
      CheckValue(option, option.default_value, ThingOf(option));
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

const Parameter& OptionSet::Describe(std::string_view name) const {
  return descriptions_[IndexOf(name)];
}

void OptionSet::SetText(std::string_view name, std::string_view text) {
  const size_t index = IndexOf(name);
  ParameterValue value = ReadValue(descriptions_[index], text, ThingOf(descriptions_[index]));
  auto* before = std::get_if<std::vector<std::string>>(&values_[index]);
  if (before && descriptions_[index].kind == ParameterKind::kTextList) {
    before->emplace_back(text);
  } else {
    Set(name, std::move(value));
  }
}

void OptionSet::Set(std::string_view name, ParameterValue value) {
  const size_t index = IndexOf(name);
  CheckValue(descriptions_[index], value, ThingOf(descriptions_[index]));
  values_[index] = std::move(value);
}

void OptionSet::SetUnchecked(std::string_view name, ParameterValue value) {
  values_[IndexOf(name)] = std::move(value);
}

void OptionSet::Reset(std::string_view name) { values_[IndexOf(name)] = std::monostate{}; }

const ParameterValue& OptionSet::Value(std::string_view name) const {
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
  const ParameterValue& value = options.Value(name);
  if (const T* held = std::get_if<T>(&value)) return *held;
  if (if_absent && std::holds_alternative<std::monostate>(value)) return *if_absent;
  MIDSCOPE_BUG("option --" + std::string(name) + " has no value of the requested type");
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
  for (const Parameter& option : descriptions_) {
    if (option.required && !Has(option.name)) {
      missing += (missing.empty() ? "--" : ", --") + option.name;
    }
  }
  if (!missing.empty()) throw UsageError("options", missing + " must be given");
}

std::string OptionSet::ToJson() const {
  auto json = nlohmann::ordered_json::object();
  for (const Parameter& option : descriptions_) {
    if (!Has(option.name)) continue;
    if (option.always_stated || Value(option.name) != option.default_value)
      json[option.name] = ParameterJson(Value(option.name));
  }
  // Replaces invalid UTF-8, which paths and prompts may contain: provenance must be written anyway.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void OptionSet::FromJson(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) throw UsageError("options", "not a JSON object of names and values");
  std::vector<std::string> known = NamesIn(descriptions_);
  OptionSet changed = *this;  // so that a failure changes no option
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError("options", "unknown option '" + name + "'", KnownWordsHint(name, known));
    }
    const Parameter& option = changed.Describe(name);
    changed.Set(name, ReadJsonValue(option, value, ThingOf(option)));
  }
  *this = std::move(changed);
}

}  // namespace midscope

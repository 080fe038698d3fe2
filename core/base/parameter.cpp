// SPDX-License-Identifier: MIT
#include "core/base/parameter.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/text.h"
#include "kernels/check.h"

namespace midscope {

namespace {

bool Holds(const Parameter& parameter, const std::string& text) {
  const auto& choices = parameter.choices;
  return std::find(choices.begin(), choices.end(), text) != choices.end();
}

// Whether the value's type matches the parameter's kind.
bool HoldsKind(const Parameter& parameter, const ParameterValue& value) {
  switch (parameter.kind) {
    case ParameterKind::kFlag:
      return std::holds_alternative<bool>(value);
    case ParameterKind::kWholeNumber:
      return std::holds_alternative<int64_t>(value);
    case ParameterKind::kNumber:
      return std::holds_alternative<double>(value);
    case ParameterKind::kTextList:
      return std::holds_alternative<std::vector<std::string>>(value);
    default:
      return std::holds_alternative<std::string>(value);
  }
}

std::string BadReason(const Parameter& parameter, const std::string& given) {
  const std::string allowed = AllowedText(parameter);
  return "'" + given + "' is not " + KindText(parameter.kind) +
         (allowed.empty() ? "" : " (allowed: " + allowed + ")");
}

// Returns the error for a text that is not one of the choices. It lists the choices and names the
// nearest one.
Error NoChoice(const Parameter& parameter, const std::string& given, const std::string& thing) {
  const std::string nearest = NearestWord(given, parameter.choices);
  return UsageError(thing, BadReason(parameter, given),
                    nearest.empty() ? "" : "Did you mean '" + nearest + "'?");
}

void CheckNumber(const Parameter& parameter, double number, const ParameterValue& value,
                 const std::string& thing) {
  if (!std::isfinite(number)) throw BadValue(parameter, ParameterText(value), thing);
  if (number >= parameter.minimum && number <= parameter.maximum) return;
  throw UsageError(thing, ParameterText(value) + " is out of range",
                   "Allowed: " + AllowedText(parameter));
}

std::string RangeText(const Parameter& parameter) {
  const bool low = std::isfinite(parameter.minimum);
  const bool high = std::isfinite(parameter.maximum);
  if (low && high) return NumberText(parameter.minimum) + " to " + NumberText(parameter.maximum);
  if (low) return "at least " + NumberText(parameter.minimum);
  if (high) return "at most " + NumberText(parameter.maximum);
  return "";
}

template <typename T>
ParameterValue ReadNumber(const Parameter& parameter, std::string_view text,
                          const std::string& thing) {
  const std::string given(text);
  if (Holds(parameter, given)) return given;
  T number{};
  if (ReadWhole(text, number)) return number;
  throw parameter.choices.empty() ? BadValue(parameter, given, thing)
                                  : NoChoice(parameter, given, thing);
}

}  // namespace

bool IsNumber(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kWholeNumber || parameter.kind == ParameterKind::kNumber;
}

Parameter NumberInChoice(const Parameter& parameter) {
  Parameter number;
  number.name = parameter.numbered_choice;
  number.kind = ParameterKind::kWholeNumber;
  number.minimum = parameter.minimum;
  number.maximum = parameter.maximum;
  return number;
}

std::optional<std::string_view> NumberedPart(const Parameter& parameter, std::string_view text) {
  const std::string& choice = parameter.numbered_choice;
  const size_t before = choice.empty() ? 0 : choice.size() - 1;
  const bool numbered = !choice.empty() && text != choice &&
                        text.starts_with(std::string_view(choice).substr(0, before));
  if (!numbered) return std::nullopt;
  return text.substr(before);
}

std::string ChoiceNamed(const Parameter& parameter, std::string_view text) {
  for (const Parameter::OtherName& other : parameter.other_names) {
    if (other.name == text) return other.choice;
  }
  return std::string(text);
}

std::string KindText(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kFlag:
      return "true or false";
    case ParameterKind::kWholeNumber:
      return "an integer";
    case ParameterKind::kNumber:
      return "a number";
    case ParameterKind::kChoice:
    case ParameterKind::kRows:
      return "one of its choices";
    case ParameterKind::kText:
      return "text";
    case ParameterKind::kTextList:
      return "a list of texts";
    case ParameterKind::kFile:
      return "a file's path";
    case ParameterKind::kLayers:
      return "a set of layers";
    case ParameterKind::kHeads:
      return "heads";
    case ParameterKind::kSpan:
      return "a passage";
  }
  MIDSCOPE_BUG("a kind of parameters without words");
}

std::string ValueSymbol(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kFlag:
      return "";
    case ParameterKind::kWholeNumber:
    case ParameterKind::kNumber:
      return "N";
    case ParameterKind::kFile:
      return "FILE";
    default:
      return "TEXT";
  }
}

std::string AllowedText(const Parameter& parameter) {
  std::string text;
  for (const std::string& choice : parameter.choices) text += (text.empty() ? "" : " | ") + choice;
  const std::string range = IsNumber(parameter) ? RangeText(parameter) : "";
  if (text.empty() || !IsNumber(parameter)) return text + range;
  return text + " | " + (range.empty() ? KindText(parameter.kind) : range);
}

std::string FactsText(const Parameter& parameter) {
  std::string text;
  const auto add = [&text](const std::string& what, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : "; ") + what + value;
  };
  add("", AllowedText(parameter));
  std::string others;
  for (const Parameter::OtherName& other : parameter.other_names)
    others += (others.empty() ? "" : ", ") + other.name + " is " + other.choice;
  add("", others);
  add("in ", parameter.unit);
  add("default: ", ParameterText(parameter.default_value));
  return text;
}

std::string ParameterText(const ParameterValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool held) const { return held ? "true" : "false"; }
    std::string operator()(int64_t held) const { return std::to_string(held); }
    std::string operator()(double held) const { return NumberText(held); }
    std::string operator()(const std::string& held) const { return held; }
    std::string operator()(const std::vector<std::string>& held) const { return Joined(held); }
  };
  return std::visit(Visitor{}, value);
}

Error BadValue(const Parameter& parameter, const std::string& given, const std::string& thing) {
  return UsageError(thing, BadReason(parameter, given));
}

void CheckValue(const Parameter& parameter, const ParameterValue& value, const std::string& thing) {
  const auto* text = std::get_if<std::string>(&value);
  if (text && IsNumber(parameter) && Holds(parameter, *text)) return;
  if (!HoldsKind(parameter, value)) throw BadValue(parameter, ParameterText(value), thing);
  switch (parameter.kind) {
    case ParameterKind::kWholeNumber:
      return CheckNumber(parameter, static_cast<double>(std::get<int64_t>(value)), value, thing);
    case ParameterKind::kNumber:
      return CheckNumber(parameter, std::get<double>(value), value, thing);
    case ParameterKind::kChoice:
    case ParameterKind::kRows:
      if (Holds(parameter, *text)) return;
      if (const auto number = NumberedPart(parameter, *text)) {
        ReadValue(NumberInChoice(parameter), *number, thing);
        return;
      }
      throw NoChoice(parameter, *text, thing);
    default:
      return;
  }
}

ParameterValue ReadValue(const Parameter& parameter, std::string_view text,
                         const std::string& thing) {
  ParameterValue value;
  switch (parameter.kind) {
    case ParameterKind::kFlag:
      if (!text.empty() && text != "true" && text != "1" && text != "false" && text != "0")
        throw BadValue(parameter, std::string(text), thing);
      return text != "false" && text != "0";
    case ParameterKind::kWholeNumber:
      value = ReadNumber<int64_t>(parameter, text, thing);
      break;
    case ParameterKind::kNumber:
      value = ReadNumber<double>(parameter, text, thing);
      break;
    case ParameterKind::kTextList:
      return std::vector<std::string>{std::string(text)};
    default:
      value = ChoiceNamed(parameter, text);
  }
  CheckValue(parameter, value, thing);
  return value;
}

namespace {

Parameter Described(ParameterKind kind, const std::string& name, const std::string& help) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = kind;
  parameter.help = help;
  return parameter;
}

}  // namespace

Parameter FlagParameter(const std::string& name, const std::string& help) {
  return Described(ParameterKind::kFlag, name, help);
}

Parameter TextParameter(const std::string& name, const std::string& help) {
  return Described(ParameterKind::kText, name, help);
}

Parameter TextListParameter(const std::string& name, const std::string& help) {
  return Described(ParameterKind::kTextList, name, help);
}

Parameter FileParameter(const std::string& name, const std::string& help) {
  return Described(ParameterKind::kFile, name, help);
}

Parameter NumberParameter(const std::string& name, const std::string& help, double minimum,
                          double maximum, std::optional<double> default_value) {
  Parameter parameter = Described(ParameterKind::kNumber, name, help);
  parameter.minimum = minimum;
  parameter.maximum = maximum;
  if (default_value) parameter.default_value = *default_value;
  return parameter;
}

Parameter ChoiceParameter(const std::string& name, const std::string& help,
                          const std::vector<std::string>& choices) {
  Parameter parameter = Described(ParameterKind::kChoice, name, help);
  parameter.choices = choices;
  parameter.default_value = choices.front();
  return parameter;
}

Parameter WholeNumberParameter(const std::string& name, const std::string& help, int64_t minimum,
                               int64_t maximum, std::optional<int64_t> default_value) {
  Parameter parameter = Described(ParameterKind::kWholeNumber, name, help);
  parameter.minimum = static_cast<double>(minimum);
  if (maximum != kNoMaximum) parameter.maximum = static_cast<double>(maximum);
  if (default_value) parameter.default_value = *default_value;
  return parameter;
}

Parameter TokensParameter(const std::string& name, const std::string& help, int64_t minimum,
                          int64_t default_value) {
  Parameter parameter = WholeNumberParameter(name, help, minimum, kNoMaximum, default_value);
  parameter.unit = "tokens";
  return parameter;
}

std::vector<Parameter> InGroup(const std::string& group, std::vector<Parameter> parameters) {
  for (Parameter& parameter : parameters) parameter.group = group;
  return parameters;
}

Parameter Required(Parameter parameter) {
  parameter.required = true;
  return parameter;
}

std::vector<Parameter> WithBrief(std::vector<Parameter> parameters,
                                 const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
    if (found == parameters.end()) throw std::logic_error("no option is named " + name);
    found->brief = true;
  }
  return parameters;
}

using Json = nlohmann::ordered_json;

Json ParameterJson(const ParameterValue& value) {
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

ParameterValue ReadJsonValue(const Parameter& parameter, const Json& json,
                             const std::string& thing) {
  if (json.is_boolean() && json.get<bool>() && !parameter.value_if_bare.empty())
    return parameter.value_if_bare;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number() && parameter.kind == ParameterKind::kNumber) return json.get<double>();
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)
      throw BadValue(parameter, json.dump(), thing);
    return json.get<int64_t>();
  }
  if (json.is_string()) return ChoiceNamed(parameter, json.get<std::string>());
  if (json.is_array() && parameter.kind == ParameterKind::kTextList &&
      std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_string(); })) {
    return json.get<std::vector<std::string>>();
  }
  throw BadValue(parameter, json.dump(-1, ' ', false, Json::error_handler_t::replace), thing);
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The description of a parameter: an option of a command or probe, an argument of an intervention's
// term, a parameter of a task. Flags, forms, JSON files, help, documentation and provenance are
// generated from it.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"

namespace midscope {

enum class ParameterKind {
  kFlag,
  kWholeNumber,
  kNumber,
  kChoice,
  kText,
  kTextList,
  kFile,
  // The following kinds are texts that core/intervention parses into its own types.
  kLayers,  // all, 8-25, [2-8,12]
  kRows,    // one of the choices
  kHeads,   // L12H3, [L12H3,L14G0]
  kSpan,    // gold, 400:600
};

// Empty (monostate) if a parameter was not given and has no default. kFlag holds a bool,
// kWholeNumber an int64_t, kNumber a double, kTextList a list, all others a string; a number with
// choices holds a string if its value is one of the choices.
using ParameterValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>>;

struct Parameter {
  std::string name{};  // "first-layer": the flag is --first-layer, the JSON key "first-layer"
  ParameterKind kind = ParameterKind::kText;
  std::string help{};
  std::string unit{};  // "tokens"; "" for none
  // For kChoice and kRows: all choices. For numbers: words allowed instead of a number.
  std::vector<std::string> choices{};
  // The range of numbers, and of the number in numbered_choice; inclusive.
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  ParameterValue default_value{};  // monostate: the parameter is absent until it is set
  bool required = false;
  // For kChoice: the choice meant by an option without a value on a command line, and by `true` in
  // a file. If "", a choice must be named.
  std::string value_if_bare{};
  // Whether task texts and OptionSet::ToJson also state a value that is the default.
  bool always_stated = true;
  // The choice that ends in "N" and is written with an integer in its place: "last:N". "" if there
  // is none.
  std::string numbered_choice{};
  bool several = false;  // in a term: may be several numbers, in brackets
  // For numbers only: the ends of the slider that forms show beside the number; equal ends: forms
  // show none.
  struct SliderEnds {
    double first = 0;
    double last = 0;
  };
  SliderEnds slider{};
  // The heading under which a command's help lists the option; if "", it is listed without a
  // heading.
  std::string group{};
  bool brief = false;  // whether the short help of a command, -h, lists the option
  // For kChoice: alternative names of choices. They are accepted as input; the choice itself is
  // stored and printed.
  struct OtherName {
    std::string name;    // "bf16"
    std::string choice;  // "bfloat16"
  };
  std::vector<OtherName> other_names{};
};

// Whether the parameter's kind is kWholeNumber or kNumber.
bool IsNumber(const Parameter& parameter);

// Describes the number N in a choice such as "last:N", as a parameter named like the choice.
Parameter NumberInChoice(const Parameter& parameter);
// Returns the choice for which the text is another name, else the text itself.
std::string ChoiceNamed(const Parameter& parameter, std::string_view text);
// Returns the text in place of N: "16" for "last:16"; nullopt if the text is not of the numbered
// choice.
std::optional<std::string_view> NumberedPart(const Parameter& parameter, std::string_view text);

// Reads one value; for a kTextList, one of its texts. A flag is "true", "false", "1", "0" or "".
// kLayers, kHeads and kSpan accept any text here: core/intervention parses them. Throws Error
// (usage) that begins with `thing`, which names the parameter, and states the fault and the allowed
// values.
ParameterValue ReadValue(const Parameter& parameter, std::string_view text,
                         const std::string& thing);
// Returns the error for a text that is not of the parameter's kind or not one of its choices.
Error BadValue(const Parameter& parameter, const std::string& given, const std::string& thing);
// Throws Error (usage) if the typed value does not have the parameter's kind or is not allowed.
void CheckValue(const Parameter& parameter, const ParameterValue& value, const std::string& thing);

// Returns the value as text: "1.5", "true", "a, b"; "" for no value. Numbers have the shortest form
// that reads back the same.
std::string ParameterText(const ParameterValue& value);

// Describes the allowed values: "0 to 1", "at least 1", "rank | code | group", "auto | 0.01 to
// 100"; "" if every value of the kind is allowed.
std::string AllowedText(const Parameter& parameter);
// Describes the kind: "true or false", "a whole number".
std::string KindText(ParameterKind kind);
// Returns the placeholder for a value in help: "N", "FILE", "TEXT"; "" for a flag.
std::string ValueSymbol(ParameterKind kind);
// Returns the facts that help adds to Parameter::help: "1 to 1000; in tokens; default: 40"; "" if
// there are none.
std::string FactsText(const Parameter& parameter);

// Functions that make descriptions of parameters, one per kind.

inline constexpr int64_t kNoMaximum = INT64_MAX;

Parameter FlagParameter(const std::string& name, const std::string& help);
Parameter TextParameter(const std::string& name, const std::string& help);
// An option that may be given more than once; as a positional argument, it takes several values.
Parameter TextListParameter(const std::string& name, const std::string& help);
Parameter FileParameter(const std::string& name, const std::string& help);
Parameter NumberParameter(const std::string& name, const std::string& help, double minimum,
                          double maximum, std::optional<double> default_value = {});
// Describes a kChoice parameter; its default is the first choice.
Parameter ChoiceParameter(const std::string& name, const std::string& help,
                          const std::vector<std::string>& choices);
// `maximum` may be kNoMaximum: no upper bound.
Parameter WholeNumberParameter(const std::string& name, const std::string& help, int64_t minimum,
                               int64_t maximum, std::optional<int64_t> default_value = {});
// A number parameter whose unit is tokens.
Parameter TokensParameter(const std::string& name, const std::string& help, int64_t minimum,
                          int64_t default_value);

// Returns the descriptions with their group set, so that help lists them under that heading.
std::vector<Parameter> InGroup(const std::string& group, std::vector<Parameter> parameters);
// Returns the description, changed so that a value must be given.
Parameter Required(Parameter parameter);
// Returns the descriptions after setting `brief` (listed in the short help) for the given names.
// Throws std::logic_error if a name does not occur.
std::vector<Parameter> WithBrief(std::vector<Parameter> parameters,
                                 const std::vector<std::string>& names);

// Returns the value as JSON: null if it is empty.
nlohmann::ordered_json ParameterJson(const ParameterValue& value);

// Reads a parameter's value from JSON. A kNumber also accepts a number without a fraction; `true`
// gives value_if_bare if the parameter has one. Throws Error (usage) in the same cases as
// ReadValue; does not check the range.
ParameterValue ReadJsonValue(const Parameter& parameter, const nlohmann::ordered_json& json,
                             const std::string& thing);

}  // namespace midscope

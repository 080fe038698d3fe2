// SPDX-License-Identifier: MIT
// A parameter described once: an option of a command or probe, an argument of an intervention's
// term, a parameter of a task. Flags, forms, JSON files, help, documentation and provenance come
// from the description.
#pragma once

#include <cstdint>
#include <limits>
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
  // Texts that core/intervention parses into types of its own.
  kLayers,  // all, 8-25, [2-8,12]
  kRows,    // one of the choices
  kHeads,   // L12H3, [L12H3,L14G0]
  kSpan,    // gold, 400:600
};

// Holds nothing where a parameter was not given and has no default. kFlag holds a bool,
// kWholeNumber an int64_t, kNumber a double, kTextList a list, all others a string; numbers with
// choices hold a string for one of these.
using ParameterValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>>;

struct Parameter {
  std::string name{};  // "first-layer": the flag is --first-layer, the JSON key "first-layer"
  ParameterKind kind = ParameterKind::kText;
  std::string help{};
  std::string unit{};  // "tokens"; "" for none
  // kChoice, kRows: all of them. Numbers: words allowed instead of the number.
  std::vector<std::string> choices{};
  // The range of numbers, and of the number in numbered_choice; inclusive.
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  ParameterValue default_value{};  // none: the parameter is absent until it is set
  bool required = false;
  // For kChoice: the choice that a bare option means on a command line, and that `true` means in a
  // file. "": one must be named.
  std::string value_if_bare{};
  // false: task texts and OptionSet::ToJson state it only where it differs from the default.
  bool always_stated = true;
  // The one of the choices that ends in "N", for which an integer is written: "last:N". "" for
  // none.
  std::string numbered_choice{};
  bool several = false;  // of a term: may be several numbers, in brackets
  // Numbers only: the ends of the slider that forms show beside the number. Equal: no slider.
  struct SliderEnds {
    double first = 0;
    double last = 0;
  };
  SliderEnds slider{};
  // The heading under which a command's help lists the option; "": under no heading of its own.
  std::string group{};
  // For kChoice: other names of choices. They are read as the choice, which is kept, stored and
  // printed.
  struct OtherName {
    std::string name;    // "bf16"
    std::string choice;  // "bfloat16"
  };
  std::vector<OtherName> other_names{};
};

// Whether the kind is kWholeNumber or kNumber.
bool IsNumber(const Parameter& parameter);

// The number that is written for N of the numbered choice, as a parameter of that choice's name.
Parameter NumberInChoice(const Parameter& parameter);
// The choice that the text names by another name; else the text.
std::string ChoiceNamed(const Parameter& parameter, std::string_view text);
// The text for N: "16" of "last:16"; nullopt where the text is not of the numbered choice.
std::optional<std::string_view> NumberedPart(const Parameter& parameter, std::string_view text);

// Reads one value; of a kTextList, one of its texts. A flag is "true", "false", "1", "0" or "".
// kLayers, kHeads and kSpan are any text here: core/intervention reads them. Throws Error (usage)
// that begins with `thing`, which names the parameter, and states the fault and the allowed values.
ParameterValue ReadValue(const Parameter& parameter, std::string_view text,
                         const std::string& thing);
// The error for a text that is not of the parameter's kind or not one of its choices.
Error BadValue(const Parameter& parameter, const std::string& given, const std::string& thing);
// Makes the same checks on a value that has been read. Throws Error (usage).
void CheckValue(const Parameter& parameter, const ParameterValue& value, const std::string& thing);

// "1.5", "true", "a, b"; "" for no value. Numbers in their shortest form that reads back the same.
std::string ParameterText(const ParameterValue& value);

// "0 to 1", "at least 1", "rank | code | group", "auto | 0.01 to 100"; "" where everything of the
// kind is allowed.
std::string AllowedText(const Parameter& parameter);
// "true or false", "a whole number".
std::string KindText(ParameterKind kind);
// The placeholder for a value in help: "N", "FILE", "TEXT"; "" for a flag.
std::string ValueSymbol(ParameterKind kind);
// The text that help adds to Parameter::help: "1 to 1000; in tokens; default: 40"; "" for nothing.
std::string FactsText(const Parameter& parameter);

// Descriptions of parameters, one function per kind.

inline constexpr int64_t kNoMaximum = INT64_MAX;

Parameter FlagParameter(const std::string& name, const std::string& help);
Parameter TextParameter(const std::string& name, const std::string& help);
// Can be given more than once; by position, several values.
Parameter TextListParameter(const std::string& name, const std::string& help);
Parameter FileParameter(const std::string& name, const std::string& help);
Parameter NumberParameter(const std::string& name, const std::string& help, double minimum,
                          double maximum, std::optional<double> default_value = {});
// The default is the first choice.
Parameter ChoiceParameter(const std::string& name, const std::string& help,
                          const std::vector<std::string>& choices);
// kNoMaximum: no upper bound.
Parameter WholeNumberParameter(const std::string& name, const std::string& help, int64_t minimum,
                               int64_t maximum, std::optional<int64_t> default_value = {});
// A number of tokens.
Parameter TokensParameter(const std::string& name, const std::string& help, int64_t minimum,
                          int64_t default_value);

// The descriptions, listed by help under the heading.
std::vector<Parameter> InGroup(const std::string& group, std::vector<Parameter> parameters);
// The description, as one that must be given.
Parameter Required(Parameter parameter);

}  // namespace midscope

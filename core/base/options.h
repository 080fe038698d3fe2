// SPDX-License-Identifier: MIT
// Options described once: command-line flags, forms, JSON files, documentation and provenance all
// come from the same list of descriptions.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace midscope {

enum class OptionType { kFlag, kInteger, kNumber, kText, kChoice, kTextList, kFile };

// Holds nothing where an option was not given and has no default. kText, kChoice and kFile hold a
// string.
using OptionValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>>;

struct OptionDescription {
  std::string name{};  // "first-layer": the flag is --first-layer, the JSON key "first-layer"
  OptionType type = OptionType::kText;
  std::string help{};
  std::string unit{};                                         // "tokens"; "" for none
  std::vector<std::string> choices{};                         // of kChoice
  double minimum = -std::numeric_limits<double>::infinity();  // of kInteger and kNumber, inclusive
  double maximum = std::numeric_limits<double>::infinity();
  OptionValue default_value{};  // none: the option is absent until it is set
  bool required = false;
  // Of kChoice: the choice that the option means on a command line where none is named behind it,
  // and that `true` means in a file. "": one must be named.
  std::string value_if_bare{};
};

// An ordered list of described options with their values. A value, cheap to copy. The typed getters
// throw std::logic_error for a name that is not described or has another type.
class OptionSet {
 public:
  // Throws std::logic_error for a name that stands twice or a default that breaks its description.
  explicit OptionSet(std::vector<OptionDescription> descriptions);

  const std::vector<OptionDescription>& descriptions() const { return descriptions_; }
  const OptionDescription& Describe(std::string_view name) const;

  // Reads one value from text; for a list, appends to what was set. Throws Error (usage) that names
  // the option, what is wrong and what is allowed. For a flag: "true", "false", "1", "0", "".
  void SetText(std::string_view name, std::string_view text);
  // Sets a value as it is, with the same checks.
  void Set(std::string_view name, OptionValue value);
  // Back to the default.
  void Reset(std::string_view name);

  bool Has(std::string_view name) const;    // has a value, set or by default
  bool IsSet(std::string_view name) const;  // was set, not by default
  bool Flag(std::string_view name) const;   // false where it has no value
  int64_t Integer(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;  // kText, kChoice, kFile; "" if no value
  const std::vector<std::string>& TextList(std::string_view name) const;
  const OptionValue& Value(std::string_view name) const;

  // Throws Error (usage) that names every required option without a value.
  void CheckRequired() const;

  // {"name": value, ...} in the order of the descriptions, options without a value left out.
  std::string ToJson() const;
  // Sets what the object names. Throws Error (usage) for bad JSON, unknown names and bad values.
  void FromJson(std::string_view json);

  // "| option | what it is | allowed | default |" with one row an option.
  std::string MarkdownTable() const;

 private:
  size_t IndexOf(std::string_view name) const;

  std::vector<OptionDescription> descriptions_;
  std::vector<OptionValue> values_;  // monostate: not set
};

// "1.5", "true", "a, b"; "" for no value. Numbers in their shortest form that reads back the same.
std::string OptionValueText(const OptionValue& value);

// "0 to 1", "at least 1", "rank | code | group"; "" where everything of the type is allowed.
std::string AllowedText(const OptionDescription& description);

}  // namespace midscope

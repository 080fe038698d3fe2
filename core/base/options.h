// SPDX-License-Identifier: MIT
// The values of a list of parameters: the options of a command, what a form holds, the parameters
// of a task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parameter.h"

namespace midscope {

// An ordered list of described options with their values. A value, cheap to copy. The typed getters
// throw std::logic_error for a name that is not described or has another type.
class OptionSet {
 public:
  // Throws std::logic_error for a duplicate name or a default that breaks its description.
  explicit OptionSet(std::vector<Parameter> descriptions);

  const std::vector<Parameter>& descriptions() const { return descriptions_; }
  const Parameter& Describe(std::string_view name) const;

  // Reads one value from text; for a list, appends to what was set. Throws Error (usage) that names
  // the option, what is wrong and what is allowed. For a flag: "true", "false", "1", "0", "".
  void SetText(std::string_view name, std::string_view text);
  // Sets a value as it is, with the same checks.
  void Set(std::string_view name, ParameterValue value);
  // Without the checks: for what a file states instead of the user.
  void SetUnchecked(std::string_view name, ParameterValue value);
  // Back to the default.
  void Reset(std::string_view name);

  bool Has(std::string_view name) const;    // has a value, set or by default
  bool IsSet(std::string_view name) const;  // was set, not by default
  bool Flag(std::string_view name) const;   // false where it has no value
  int64_t Integer(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;  // kText, kChoice, kFile; "" if no value
  const std::vector<std::string>& TextList(std::string_view name) const;
  const ParameterValue& Value(std::string_view name) const;

  // Throws Error (usage) that names every required option without a value.
  void CheckRequired() const;

  // {"name": value, ...} in the order of the descriptions, without options that have no value, and
  // without those of the default value that are not always_stated.
  std::string ToJson() const;
  // Sets what the object names. Throws Error (usage) for bad JSON, unknown names and bad values.
  void FromJson(std::string_view json);

  // "| option | what it is | allowed | default |" with one row per option.
  std::string MarkdownTable() const;

 private:
  size_t IndexOf(std::string_view name) const;

  std::vector<Parameter> descriptions_;
  std::vector<ParameterValue> values_;  // monostate: not set
};

}  // namespace midscope

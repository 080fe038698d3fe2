// SPDX-License-Identifier: MIT
// The values of a list of parameters: a command's options, a form's fields or a task's parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parameter.h"

namespace midscope {

// An ordered list of described options with their values. A value type, cheap to copy. The typed
// getters throw std::logic_error if the name is not described or has another type.
class OptionSet {
 public:
  // Throws std::logic_error for a duplicate name or a default that its description forbids.
  explicit OptionSet(std::vector<Parameter> descriptions);

  const std::vector<Parameter>& descriptions() const { return descriptions_; }
  const Parameter& Describe(std::string_view name) const;

  // Sets one value from text; for a list, appends to the values already set. Throws Error (usage)
  // that names the option, the fault and the allowed values. For a flag: "true", "false", "1", "0",
  // "".
  void SetText(std::string_view name, std::string_view text);
  // Sets a value of the option's type. Throws Error (usage) if the option does not allow it.
  void Set(std::string_view name, ParameterValue value);
  // Sets a value without checking it. For values that come from a file, not from the user.
  void SetUnchecked(std::string_view name, ParameterValue value);
  // Sets the option's value back to its default.
  void Reset(std::string_view name);

  bool Has(std::string_view name) const;    // whether it has a value, set or by default
  bool IsSet(std::string_view name) const;  // whether it was set, not by default
  bool Flag(std::string_view name) const;   // false if it has no value
  int64_t Integer(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;  // kText, kChoice, kFile; "" if no value
  const std::vector<std::string>& TextList(std::string_view name) const;
  const ParameterValue& Value(std::string_view name) const;

  // Throws Error (usage) that names every required option that has no value.
  void CheckRequired() const;

  // Returns {"name": value, ...} in the order of the descriptions, without options that have no
  // value or, unless always_stated, their default value.
  std::string ToJson() const;
  // Sets the options that the object names. Throws Error (usage) for bad JSON, unknown names and
  // bad values.
  void FromJson(std::string_view json);

 private:
  size_t IndexOf(std::string_view name) const;

  std::vector<Parameter> descriptions_;
  std::vector<ParameterValue> values_;  // monostate: not set
};

}  // namespace midscope

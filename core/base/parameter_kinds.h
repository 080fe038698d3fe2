// SPDX-License-Identifier: MIT
// Descriptions of parameters, one function per kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace midscope {

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

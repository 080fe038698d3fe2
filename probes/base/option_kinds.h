// SPDX-License-Identifier: MIT
// Descriptions of options (core/base/options.h), one function per kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace midscope {

inline constexpr int64_t kNoMaximum = INT64_MAX;

OptionDescription FlagOption(const std::string& name, const std::string& help);
OptionDescription TextOption(const std::string& name, const std::string& help);
// Can be given more than once; by position, several values.
OptionDescription TextListOption(const std::string& name, const std::string& help);
OptionDescription FileOption(const std::string& name, const std::string& help);
// Without a default.
OptionDescription NumberOption(const std::string& name, const std::string& help, double minimum,
                               double maximum);
// The default is the first choice.
OptionDescription ChoiceOption(const std::string& name, const std::string& help,
                               const std::vector<std::string>& choices);
// kNoMaximum: no upper bound.
OptionDescription IntegerOption(const std::string& name, const std::string& help, int64_t minimum,
                                int64_t maximum, int64_t default_value);
// A number of tokens.
OptionDescription TokensOption(const std::string& name, const std::string& help, int64_t minimum,
                               int64_t default_value);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Descriptions of options (core/base/options.h), one line a kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace midscope {

inline constexpr int64_t kNoMaximum = INT64_MAX;

OptionDescription FlagOption(const std::string& name, const std::string& help);
OptionDescription TextOption(const std::string& name, const std::string& help);
// One that may be given more than once, or by position several times.
OptionDescription TextListOption(const std::string& name, const std::string& help);
OptionDescription FileOption(const std::string& name, const std::string& help);
// Without a default.
OptionDescription NumberOption(const std::string& name, const std::string& help, double minimum,
                               double maximum);
// The first choice is the default.
OptionDescription ChoiceOption(const std::string& name, const std::string& help,
                               const std::vector<std::string>& choices);
// Without an upper bound where `maximum` is kNoMaximum.
OptionDescription IntegerOption(const std::string& name, const std::string& help, int64_t minimum,
                                int64_t maximum, int64_t default_value);
// Such a number of tokens.
OptionDescription TokensOption(const std::string& name, const std::string& help, int64_t minimum,
                               int64_t default_value);

}  // namespace midscope

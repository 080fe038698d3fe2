// SPDX-License-Identifier: MIT
#include "probes/base/option_kinds.h"

namespace midscope {
namespace {

OptionDescription Described(OptionType type, const std::string& name, const std::string& help) {
  OptionDescription option;
  option.name = name;
  option.type = type;
  option.help = help;
  return option;
}

}  // namespace

OptionDescription FlagOption(const std::string& name, const std::string& help) {
  return Described(OptionType::kFlag, name, help);
}

OptionDescription TextOption(const std::string& name, const std::string& help) {
  return Described(OptionType::kText, name, help);
}

OptionDescription TextListOption(const std::string& name, const std::string& help) {
  return Described(OptionType::kTextList, name, help);
}

OptionDescription FileOption(const std::string& name, const std::string& help) {
  return Described(OptionType::kFile, name, help);
}

OptionDescription NumberOption(const std::string& name, const std::string& help, double minimum,
                               double maximum) {
  OptionDescription option = Described(OptionType::kNumber, name, help);
  option.minimum = minimum;
  option.maximum = maximum;
  return option;
}

OptionDescription ChoiceOption(const std::string& name, const std::string& help,
                               const std::vector<std::string>& choices) {
  OptionDescription option = Described(OptionType::kChoice, name, help);
  option.choices = choices;
  option.default_value = choices.front();
  return option;
}

OptionDescription IntegerOption(const std::string& name, const std::string& help, int64_t minimum,
                                int64_t maximum, int64_t default_value) {
  OptionDescription option = Described(OptionType::kInteger, name, help);
  option.minimum = static_cast<double>(minimum);
  if (maximum != kNoMaximum) option.maximum = static_cast<double>(maximum);
  option.default_value = default_value;
  return option;
}

OptionDescription TokensOption(const std::string& name, const std::string& help, int64_t minimum,
                               int64_t default_value) {
  OptionDescription option = IntegerOption(name, help, minimum, kNoMaximum, default_value);
  option.unit = "tokens";
  return option;
}

}  // namespace midscope

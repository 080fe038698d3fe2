// SPDX-License-Identifier: MIT
#include "core/base/parameter_kinds.h"

namespace midscope {
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

}  // namespace midscope

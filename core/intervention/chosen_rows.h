// SPDX-License-Identifier: MIT
// The argument of edits that apply to chosen rows, given by rule or as a passage: question,
// 400:600, last, answer, last:N, all. Internal to core.
#pragma once

#include <string>

#include "core/intervention/term_form.h"
#include "core/intervention/term_type.h"

namespace midscope {

// Describes the argument, without a default. The possible values are appended to `help`.
Parameter DescribedChosenRows(const std::string& name, const std::string& help);

// Throws Error (usage) if the argument is not valid.
ChosenRows ReadChosenRows(const TextArgument& argument);
std::string ChosenRowsText(const ChosenRows& rows);

void ResolveRows(ChosenRows& rows, const SpanResolver& resolver);

template <auto kMember>
BoundArgument<term_form::ClassOf<kMember>> ChosenRowsArgument(const std::string& name,
                                                              const std::string& help) {
  return {DescribedChosenRows(name, help),
          [](auto& value, const TextArgument& argument, const Parameter&) {
            value.*kMember = ReadChosenRows(argument);
          },
          [](const auto& value, const Parameter&) { return ChosenRowsText(value.*kMember); }};
}

}  // namespace midscope

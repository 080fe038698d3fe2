// SPDX-License-Identifier: MIT
#include "core/intervention/chosen_rows.h"

#include <algorithm>

#include "core/base/parameter.h"

namespace midscope {
namespace {

Parameter DescribedRule() { return DescribedRows("", "all"); }

bool IsRule(const TextAtom& atom) {
  const Parameter rule = DescribedRule();
  const bool chosen =
      std::find(rule.choices.begin(), rule.choices.end(), atom.text) != rule.choices.end();
  return !atom.quoted && (chosen || NumberedPart(rule, atom.text));
}

}  // namespace

Parameter DescribedChosenRows(const std::string& name, const std::string& help) {
  Parameter rows = DescribedSpan();
  rows.name = name;
  rows.help = help +
              ": a passage by name (question) or as tokens (400:600), or last, answer, last:N, all "
              "as in rows of other terms.";
  rows.required = false;
  return rows;
}

ChosenRows ReadChosenRows(const TextArgument& argument) {
  ChosenRows rows;
  rows.by_rule = IsRule(OnlyValue(argument));
  if (rows.by_rule) {
    rows.rule = ReadRows(argument, DescribedRule());
  } else {
    rows.passage = ReadSpan(argument);
  }
  return rows;
}

std::string ChosenRowsText(const ChosenRows& rows) {
  if (rows.by_rule) return RowsText(rows.rule, DescribedRule());
  // A passage that has such a name is still a passage.
  const std::string text = SpanText(rows.passage);
  return IsRule({text, 0}) ? '"' + text + '"' : text;
}

void ResolveRows(ChosenRows& rows, const SpanResolver& resolver) {
  if (!rows.by_rule) rows.passage = resolver.tokens(rows.passage);
}

}  // namespace midscope

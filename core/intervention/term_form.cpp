// SPDX-License-Identifier: MIT
#include "core/intervention/term_form.h"

#include <algorithm>

#include "core/base/parameter.h"

namespace midscope {
namespace {

// Returns the parameter with its kind changed to `kind`.
Parameter OfKind(ParameterKind kind, Parameter parameter) {
  parameter.kind = kind;
  return parameter;
}

constexpr const char* kSeveralHeads =
    "L12H0-3 and L12H* are several, all is every one; lists in brackets; zero-based. file:NAME are "
    "those of a published list (scores need file:NAME:top:20, file:NAME:least:0.5 or "
    "file:NAME:below:0.5).";

}  // namespace

Parameter DescribedLayers(const std::string& help, const std::string& by_default) {
  Parameter layers = OfKind(ParameterKind::kLayers, TextParameter("layers", help));
  if (!by_default.empty()) layers.default_value = by_default;
  return layers;
}

Parameter DescribedRows(const std::string& help, const std::string& by_default) {
  Parameter rows = OfKind(
      ParameterKind::kRows,
      ChoiceParameter(
          "rows",
          help +
              " answer: the last prompt row and all answer rows. last: the last prompt row alone. "
              "last:N: the last N prompt rows and all answer rows. all: every row.",
          {"answer", "last", "last:N", "all"}));
  rows.numbered_choice = "last:N";
  rows.minimum = 1;
  rows.maximum = kEveryLayerAfter;
  rows.default_value = by_default;
  return rows;
}

Parameter DescribedSpan() {
  return OfKind(
      ParameterKind::kSpan,
      Required(TextParameter(
          "span",
          "The passage: its name (gold; \"pair 7\" in quotation marks where it has spaces), or "
          "tokens as 400:600, the last not included.")));
}

Parameter DescribedHeads() {
  return OfKind(
      ParameterKind::kHeads,
      Required(TextParameter(
          "head",
          std::string(
              "A head as L12H3, or a key head with all query heads that read it as L12G1; ") +
              kSeveralHeads)));
}

Parameter DescribedHeadSet(const std::string& help) {
  Parameter heads =
      OfKind(ParameterKind::kHeads,
             TextParameter("heads", help + " L12H3, or L12G1 for a key head; " + kSeveralHeads));
  heads.default_value = "all";
  return heads;
}

Parameter DescribedTermFile(const std::string& help) {
  return FileParameter("file", help +
                                   ". In quotation marks where the name has other characters than "
                                   "letters, digits, - _ . : /");
}

std::string TermFileText(const std::string& file) { return IsWord(file) ? file : '"' + file + '"'; }

void CheckDigest(const TextTerm& term, const std::string& what, const std::string& now) {
  const TextArgument* digest = Find(term, "digest");
  if (!digest || OnlyValue(*digest).text == now) return;
  throw ErrorAt(digest->column,
                "the " + what + " in " + OnlyValue(*Find(term, "file")).text +
                    " are others now: their digest is " + now,
                "Bring the file back, or leave digest out to take it as it is");
}

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
  // Quotes a passage's name that equals a rule such as "last", so that it stays a passage.
  const std::string text = SpanText(rows.passage);
  return IsRule({text, 0}) ? '"' + text + '"' : text;
}

void ResolveRows(ChosenRows& rows, const SpanResolver& resolver) {
  if (!rows.by_rule) rows.passage = resolver.tokens(rows.passage);
}

}  // namespace midscope

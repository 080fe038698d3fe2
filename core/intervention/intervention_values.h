// SPDX-License-Identifier: MIT
// How the values of arguments of intervention terms are read from text and printed. term_form.h
// binds them to the members of a term's type. Internal to core.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/intervention/intervention_grammar.h"

namespace midscope {

// The argument's value where it may be but one. Throws Error (usage), as all of the following.
const TextAtom& OnlyValue(const TextArgument& argument);

// The part of an error after the column: "intervention text, column 8: 'min'".
std::string ThingAt(const TextAtom& atom, const Parameter& described);

// T: an integer for kWholeNumber, else a floating-point number.
template <typename T>
T Number(const TextAtom& atom, const Parameter& described) {
  using Held = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const ParameterValue value = ReadValue(described, atom.text, ThingAt(atom, described));
  return static_cast<T>(std::get<Held>(value));
}

// Index of the value among the described choices.
size_t Choice(const TextAtom& atom, const Parameter& described);

// The number given for N of the numbered choice, as in "last:16"; nullopt for another choice.
// Throws for the "N" itself; `example` is a valid text.
std::optional<int64_t> ReadNumberedChoice(const TextAtom& atom, const Parameter& described,
                                          const std::string& example);

// Sorted, with overlapping and touching ranges joined, so that equal sets are equal values.
LayerSet ReadLayers(const TextArgument& argument);

// "answer", "last", "last:16", "all".
RowChoice ReadRows(const TextArgument& argument, const Parameter& described);
std::string RowsText(const RowChoice& choice, const Parameter& described);

// The name of a passage, or tokens as 400:600.
TokenSpan ReadSpan(const TextArgument& argument);
std::string SpanText(const TokenSpan& span);

// "L12H3", "[L12H3,L14G0]", "L9H*", "L9H0-3", "all", "file:NAME" (head_set_file.h: its heads, from
// then on named one by one); sorted. A head that is named twice in the same words is an error.
std::vector<HeadName> ReadHeads(const TextArgument& argument);
std::string HeadsText(const std::vector<HeadName>& heads);

// The argument of that name, or null.
const TextArgument* Find(const TextTerm& term, std::string_view name);

// Throws where a required one is missing; `example` is a term that is right.
void RequireArguments(const TextTerm& term, const std::string& example);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Functions that parse and print the values of arguments of intervention terms. term_form.h binds
// them to the members of a term's type. Internal to core.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/intervention/intervention_grammar.h"

namespace midscope {

// Returns the argument's value if it has exactly one. Throws Error (usage), like all functions
// below.
const TextAtom& OnlyValue(const TextArgument& argument);

// Returns the beginning of an error message about the argument's value: "setting, column 8: 'min'".
std::string ThingAt(const TextAtom& atom, const Parameter& described);

// Parses a number. T: an integer for kWholeNumber, else a floating-point number.
template <typename T>
T Number(const TextAtom& atom, const Parameter& described) {
  using Held = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const ParameterValue value = ReadValue(described, atom.text, ThingAt(atom, described));
  return static_cast<T>(std::get<Held>(value));
}

// Returns the index of the value among the described choices.
size_t Choice(const TextAtom& atom, const Parameter& described);

// Returns the number given for N of the numbered choice, as in "last:16"; nullopt for another
// choice. Throws Error (usage) if the text contains the letter "N" instead of a number; `example`
// is a valid text.
std::optional<int64_t> ReadNumberedChoice(const TextAtom& atom, const Parameter& described,
                                          const std::string& example);

// Parses layers. The ranges are sorted, and overlapping and touching ranges are joined, so that
// equal sets are equal values.
LayerSet ReadLayers(const TextArgument& argument);

// Parses "answer", "last", "last:16" or "all".
RowChoice ReadRows(const TextArgument& argument, const Parameter& described);
std::string RowsText(const RowChoice& choice, const Parameter& described);

// Parses the name of a passage, or tokens such as 400:600.
TokenSpan ReadSpan(const TextArgument& argument);
std::string SpanText(const TokenSpan& span);

// Parses "L12H3", "[L12H3,L14G0]", "L9H*", "L9H0-3", "all" or "file:NAME" (head_set_file.h;
// replaced by the names of the file's heads). Returns them sorted. The same head name given twice
// is an error.
std::vector<HeadName> ReadHeads(const TextArgument& argument);
std::string HeadsText(const std::vector<HeadName>& heads);

// Returns the term's argument called `name`, or null.
const TextArgument* Find(const TextTerm& term, std::string_view name);

// Throws Error (usage) if the term lacks a required argument; `example` is a correct term.
void RequireArguments(const TextTerm& term, const std::string& example);

}  // namespace midscope

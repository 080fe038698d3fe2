// SPDX-License-Identifier: MIT
// How the values of arguments of intervention terms are read from text and printed. term_form.h
// binds them to the members of a term's type. Internal to core.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/number_text.h"
#include "core/intervention/intervention_grammar.h"

namespace midscope {

// The argument's value where it may be but one. Throws Error (usage), as all of the following.
const TextAtom& OnlyValue(const TextArgument& argument);

void CheckRange(const TextAtom& atom, const TermArgument& described, double number);

template <typename T>
T Number(const TextAtom& atom, const TermArgument& described) {
  T value{};
  const bool whole = std::is_integral_v<T>;
  if (!ReadWhole(atom.text, value) || !std::isfinite(static_cast<double>(value))) {
    throw ErrorAt(atom.column, "'" + described.name + "' must be a " + (whole ? "whole " : "") +
                                   "number, not '" + atom.text + "'");
  }
  CheckRange(atom, described, static_cast<double>(value));
  return value;
}

// Index of the value among the described choices.
size_t Choice(const TextAtom& atom, const TermArgument& described);

// N of "PREFIX:N", for a choice that is described as "PREFIX:N". `atom` must begin with "PREFIX:".
int64_t NumberAfter(const TextAtom& atom, const std::string& prefix, int64_t minimum,
                    int64_t maximum);

// Sorted, with overlapping and touching ranges joined, so that equal sets are equal values.
LayerSet ReadLayers(const TextArgument& argument);

// "answer", "last", "last:16", "all".
RowChoice ReadRows(const TextArgument& argument, const TermArgument& described);
std::string RowsText(const RowChoice& choice, const TermArgument& described);

// The name of a passage, or tokens as 400:600.
Passage ReadPassage(const TextArgument& argument);
std::string PassageText(const Passage& passage);

// "L12H3", "[L12H3,L14G0]"; sorted. A head that is named twice is an error.
std::vector<HeadName> ReadHeads(const TextArgument& argument);
std::string HeadsText(const std::vector<HeadName>& heads);

// The argument of that name, or null.
const TextArgument* Find(const TextTerm& term, std::string_view name);

// Throws where one is missing; `example` is a term that is right.
void RequireArguments(const TextTerm& term, const std::vector<std::string>& names,
                      const std::string& example);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// How arguments of intervention terms are read from text and printed, and the binding of one
// argument's description to a value. Internal to core.
#pragma once

#include <cmath>
#include <stdexcept>
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

// How one argument is read into a value and printed from it. An empty print leaves it out.
template <typename T>
struct Binding {
  void (*read)(T&, const TextArgument&, const TermArgument&);
  std::string (*print)(const T&, const TermArgument&);
};

// The argument of that name, or null.
const TextArgument* Find(const TextTerm& term, std::string_view name);

// Throws where one is missing; `example` is a good term.
void RequireArguments(const TextTerm& term, const std::vector<std::string>& names,
                      const std::string& example);

// `bindings`: one an argument, in the order of the description.
template <typename T>
T ReadTerm(const TextTerm& term, const std::vector<Binding<T>>& bindings) {
  T value;
  const auto& described = term.term->arguments;
  for (const TextArgument& argument : term.arguments) {
    for (size_t i = 0; i < described.size(); ++i) {
      if (described[i].name == argument.name) bindings.at(i).read(value, argument, described[i]);
    }
  }
  return value;
}

// The description of a term; throws std::logic_error where there is none.
const Term& TermNamed(std::string_view name);

template <typename T>
std::string PrintTerm(std::string_view name, const T& value,
                      const std::vector<Binding<T>>& bindings) {
  const Term& term = TermNamed(name);
  if (term.arguments.empty()) return term.name;
  std::string arguments;
  for (size_t i = 0; i < term.arguments.size(); ++i) {
    const std::string text = bindings.at(i).print(value, term.arguments[i]);
    if (text.empty()) continue;
    if (!arguments.empty()) arguments += ", ";
    arguments += i < BareArguments(term) ? text : term.arguments[i].name + "=" + text;
  }
  return term.name + "(" + arguments + ")";
}

}  // namespace midscope

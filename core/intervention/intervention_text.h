// SPDX-License-Identifier: MIT
// The short text form of an intervention, parsed and printed from one description of its terms and
// arguments.
//
// clang-format off
//   none   pi(1.5)   base(500000)   ntk(2)   dynamic-ntk(2)   dynamic-linear   nope(layers=0-3)
//   yarn(4, context=2048, form=repo|paper|cream, beta_fast=32, beta_slow=1, magnitude=auto)
//   ratios(FILE)
//   ms-poe(min=1.2, max=1.8, mode=rank|code|group, order=..., seed=, first_layer=2 or layers=...)
//   self-extend(group=2, window=64)
//   infini(segment=2048, gate=0.1, update=linear|delta)
//   channel(100, factor=-1, layers=8-25, rows=answer|last|last:16|all)
//   channel([100,215], factor=[-1,0], layers=...)
//   crop(span=gold, layers=0-7, keep=first|none)     span: a passage's name or tokens 400:600
//   move(span=gold, to=begin|end|shift:-200, layers=, rows=answer|last|last:16|all)
//   boost(span="pair 7", factor=2, renormalise=no|yes, layers=, rows=)
//   ablate([L12H3,L14G0], with=zero|mean, rows=all)
//   temperature(L12H3, 1.5, rows=all)
//   preset(NAME)                                     a published setting (presets.h)
// clang-format on
// joined by " + "; at most one position scheme. What begins with { is the JSON form
// (intervention_json.h), @FILE names a file that holds either.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/intervention/intervention.h"

namespace midscope {

// Throws Error (usage) that names the column (1-based) and what was expected there, with the
// nearest known word for a typo. Reads the file of `ratios` or @FILE.
Intervention ParseIntervention(std::string_view text);

// Every argument stated, in a fixed order; ParseIntervention of it gives the same value.
std::string PrintIntervention(const Intervention& intervention);

// One argument of a term, for help, forms and documentation.
struct TermArgument {
  std::string name;
  std::string help;
  std::string unit;
  // Empty: a number, a name or a layer set. "N" and "M" stand for numbers, as in "last:N".
  std::vector<std::string> choices;
  double minimum = 0;
  double maximum = 0;  // minimum == maximum: no range
  std::string default_text;
};

struct Term {
  std::string name;     // "ms-poe"
  std::string summary;  // what it does
  std::string source;   // paper; what its public code does differently
  std::vector<TermArgument> arguments;
};

// All terms, in the order in which help lists them.
const std::vector<Term>& InterventionTerms();

}  // namespace midscope

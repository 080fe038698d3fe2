// SPDX-License-Identifier: MIT
// The list of terms: one line per file of this folder, in the order in which help and texts list
// them. TERM(crop) denotes the function crop::Type() of crop.cpp.
#pragma once

#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/intervention/term_type.h"

// clang-format off
#define MIDSCOPE_TERMS(TERM)                                                                     \
  /* Position schemes. */                                                                        \
  TERM(none) TERM(pi) TERM(base) TERM(ntk) TERM(dynamic_ntk) TERM(dynamic_linear) TERM(yarn)     \
  TERM(dynamic_yarn) TERM(ntk_by_parts) TERM(long_rope) TERM(eabf) TERM(nope) TERM(rotary_pairs) \
  TERM(ratios) TERM(ms_poe) TERM(self_extend) TERM(infini)                                       \
  /* Edits. */                                                                                   \
  TERM(channel) TERM(positions) TERM(crop) TERM(move) TERM(boost) TERM(ablate)                   \
  TERM(temperature) TERM(block) TERM(streaming) TERM(attend) TERM(patch) TERM(vector)            \
  TERM(set)                                                                                      \
  /* Published settings. */                                                                      \
  TERM(presets)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_TERM(NAME) \
  namespace NAME {                  \
  TermType Type();                  \
  }
MIDSCOPE_TERMS(MIDSCOPE_DECLARE_TERM)
#undef MIDSCOPE_DECLARE_TERM

// Returns all types, in the order of the list.
const std::vector<TermType>& TermTypes();

// Returns null if no term has this name.
const TermType* FindTermType(std::string_view name);

// Returns the type whose terms have values of this C++ type. Throws std::logic_error if there is
// none.
const TermType& TermTypeOf(std::type_index value);

// Makes a term with this value: TermOf(PositionInterpolation{1.5}).
template <typename T>
Term TermOf(T value) {
  return {TermTypeOf(typeid(T)), std::move(value)};
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The list of terms: one line per file of this folder, in the order in which help and texts list
// them. TERM(Crop) denotes the function CropTerm() of crop.cpp.
#pragma once

#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/intervention/term_type.h"

// clang-format off
#define MIDSCOPE_TERMS(TERM)                                                                \
  /* Position schemes. */                                                                   \
  TERM(None) TERM(Pi) TERM(Base) TERM(Ntk) TERM(DynamicNtk) TERM(DynamicLinear) TERM(Yarn)  \
  TERM(DynamicYarn) TERM(NtkByParts) TERM(LongRope) TERM(Eabf) TERM(Nope) TERM(RotaryPairs) \
  TERM(Ratios) TERM(MsPoe) TERM(SelfExtend) TERM(Infini)                                    \
  /* Edits. */                                                                              \
  TERM(Channel) TERM(Positions) TERM(Crop) TERM(Move) TERM(Boost) TERM(Ablate)              \
  TERM(Temperature) TERM(Block) TERM(Streaming) TERM(Attend) TERM(Patch) TERM(Vector)       \
  TERM(Set)                                                                                 \
  /* Published settings. */                                                                 \
  TERM(Preset)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_TERM(NAME) TermType NAME##Term();
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

// SPDX-License-Identifier: MIT
// The list of position schemes: one line per file of this folder, in the order in which help lists
// them. SCHEME(Ntk) stands for the function NtkScheme() of ntk.cpp.
#pragma once

#include "core/intervention/scheme_type.h"

// clang-format off
#define MIDSCOPE_POSITION_SCHEMES(SCHEME) \
  SCHEME(None)                            \
  SCHEME(Pi)                              \
  SCHEME(Base)                            \
  SCHEME(Ntk)                             \
  SCHEME(DynamicNtk)                      \
  SCHEME(DynamicLinear)                   \
  SCHEME(Yarn)                            \
  SCHEME(DynamicYarn)                     \
  SCHEME(NtkByParts)                      \
  SCHEME(LongRope)                        \
  SCHEME(Eabf)                            \
  SCHEME(Nope)                            \
  SCHEME(RotaryPairs)                     \
  SCHEME(Ratios)                          \
  SCHEME(MsPoe)                           \
  SCHEME(SelfExtend)                      \
  SCHEME(Infini)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_SCHEME(NAME) SchemeType NAME##Scheme();
MIDSCOPE_POSITION_SCHEMES(MIDSCOPE_DECLARE_SCHEME)
#undef MIDSCOPE_DECLARE_SCHEME

}  // namespace midscope

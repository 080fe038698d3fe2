// SPDX-License-Identifier: MIT
// The list of edits: one line per file of this folder, in the order in which help and texts list
// them. EDIT(Crop) stands for the function CropEdit() of crop.cpp.
#pragma once

#include "core/intervention/edit_type.h"

// clang-format off
#define MIDSCOPE_EDITS(EDIT) \
  EDIT(Channel)              \
  EDIT(Positions)            \
  EDIT(Crop)                 \
  EDIT(Move)                 \
  EDIT(Boost)                \
  EDIT(Ablate)               \
  EDIT(Temperature)          \
  EDIT(Block)                \
  EDIT(Streaming)            \
  EDIT(Attend)               \
  EDIT(Patch)                \
  EDIT(Vector)               \
  EDIT(Set)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_EDIT(NAME) EditType NAME##Edit();
MIDSCOPE_EDITS(MIDSCOPE_DECLARE_EDIT)
#undef MIDSCOPE_DECLARE_EDIT

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// Small value types that the panels pass to each other.
#pragma once

#include <cstdint>

#include "probes/base/side.h"

namespace midscope {

// Zero-based, as in `L12H3`.
struct HeadId {
  int64_t layer = 0;
  int64_t head = 0;
  bool operator==(const HeadId&) const = default;
};

// Which of the two settings the views show: A alone, B alone, the difference B - A, or A and B side
// by side.
enum class Compare { kA, kB, kDifference, kSplit };

}  // namespace midscope

// SPDX-License-Identifier: GPL-3.0-or-later
// Small values that the panels pass to each other.
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

// Which of the two settings views show: A alone, B alone, B - A, or A and B beside each other.
enum class Compare { kA, kB, kDifference, kSplit };

}  // namespace midscope

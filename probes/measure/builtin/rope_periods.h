// SPDX-License-Identifier: MIT
// Periods of rotary positions: the number of positions in which each pair of dimensions completes a
// turn, compared with the trained context, and how another base, PI, NTK and YaRN variants change
// it. Needs no model.
#pragma once

#include <cstdint>

#include "core/base/record.h"

namespace midscope {

struct RopeQuestion {
  int64_t dimensions = 128;  // number of rotated dimensions; even
  double base = 1e4;         // > 1
  int64_t context = 4096;    // trained context, in tokens
  double factor = 1;         // if > 1, also compute PI, NTK and YaRN with this factor
  double new_base = 0;       // if > 1, also compute this base
  // If least_ratio and largest_ratio are > 0, also compute two heads with these position ratios of
  // Ms-PoE, each as a scheme; a head's periods grow by its ratio.
  double least_ratio = 0;
  double largest_ratio = 0;
};

// Throws Error (usage) if the number of dimensions is odd or another number is out of range.
void CheckRopeQuestion(const RopeQuestion& question);

// Returns record `rope`. The first scheme is always `none`; those of Ms-PoE have the name of the
// term and the head: `ms-poe(min=1.2, max=1.8), least ratio`. Arrays:
// clang-format off
//   frequency (radians a position), period (positions), turns (within the context), completes
//   (whether turns >= 1) [scheme, pair]; first_pair_over_context (-1: all pairs turn
//   within the context), dimensions_within_context, dimensions_within_stretched (context * factor),
//   base (NaN if the frequencies are not from a single base), magnitude [scheme];
//   similarity, decay_bound [scheme, distance], distances up to the stretched context: the logit of
//   a query and key of ones, over its value at distance 0 (the mean of cos(distance * theta), which
//   sinusoidal encodings have as their inner product too), and the upper bound of Su et al. (arXiv
//   2104.09864, section 3.4.3), mean over i of |sum over j < i of exp(i distance theta_j)|;
//   sinusoidal_encoding [position, dimension] of Vaswani et al. (arXiv 1706.03762) with this base.
// clang-format on
// Attributes yarn_ramp_low, yarn_ramp_high (pairs), if there is a factor.
Record RopePeriods(const RopeQuestion& question);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Compares learned position embeddings (GPT-2, OPT) with the sinusoidal encoding: which dimensions
// are waves over positions, with which period, and the similarity of positions by distance.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"

namespace midscope {

struct PositionTable {
  std::vector<float> values;  // embeddings, [positions, dimensions]
  int64_t positions = 0;      // at least 2
  int64_t dimensions = 0;
  double base = 1e4;  // base of the sinusoidal encoding; > 1
};

// Returns the sinusoidal encoding of Vaswani et al. (arXiv 1706.03762), [positions, dimensions]:
// for position i, dimension 2t is sin(i / base^(2t / dimensions)), dimension 2t + 1 the cosine.
std::vector<float> SinusoidalEncoding(int64_t positions, int64_t dimensions, double base);

// Makes record `learned_positions`. The axis `table` has `learned` and `sinusoidal`. Arrays:
// clang-format off
//   period [table, dimension]: positions per turn of the wave a + b cos(w i) + c sin(w i) that
//   fits the dimension best, 2 to four times the table's positions; NaN if the best is longer
//   or the dimension is constant; wave_share [table, dimension]: the share of the dimension's
//   variance over positions that this wave explains; period_in_order [table, rank]: the periods,
//   shortest first; power [table, turns]: the spectrum, share of the variance by turns within the
//   table, mean over dimensions; similarity, centred_similarity [table, distance]: mean cosine of
//   the embeddings of positions i and i + distance, as they are and minus the mean embedding;
//   norm [table, position].
// clang-format on
// Attributes: positions, dimensions, base, median_wave_share (of the learned table). Takes seconds
// for thousands of positions and dimensions. Throws Cancelled.
Record LearnedPositions(const PositionTable& table, const JobContext& context = {});

}  // namespace midscope

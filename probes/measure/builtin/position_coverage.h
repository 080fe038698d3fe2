// SPDX-License-Identifier: MIT
// Samples of position ids as records: the ids themselves, which relative distances and positions
// they show, and what CREAM's theorems say of it. Needs no model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/positions/position_sampler.h"
#include "core/positions/relative_distances.h"

namespace midscope {

// The distances are counted one by one.
inline constexpr int64_t kLongestCoveredContext = 1 << 20;

// A sampler with its request and options, ready to draw.
struct SampledPositions {
  std::string sampler;  // "cream"
  PositionRequest request;
  DrawPositions draw;
};

// Throws Error (usage) in the same cases as PreparePositions.
SampledPositions MakeSampledPositions(const PositionSampler& sampler,
                                      const PositionRequest& request, const OptionSet& options);

// Record `positions` of the samples first, first + 1, ...: position_id and token_index
// [sample, token], integers. Throws Cancelled.
Record PositionSamples(const SampledPositions& positions, int64_t first, int64_t samples,
                       const JobContext& job);

// Record `position_coverage`, of the samples 0 to `samples` - 1 of each sampler, all with the same
// context:
// clang-format off
//   coverage [sampler, samples]: share of the distances 0 to L-1 that are between some query and
//   key of so many samples (D_r of CREAM, arXiv 2406.07138, Eq. 2, united over samples);
//   pairs_per_sample [sampler, distance]: mean number of pairs of that distance;
//   first_sample [sampler, distance]: number of samples after which the distance is there; 0: never;
//   shown [sampler, position]: share of the samples that hold the position id. The middle of CREAM
//   is the part between its ends, which are 1.
// clang-format on
// Throws Error (usage) for a context above kLongestCoveredContext; Cancelled.
Record PositionCoverage(const std::vector<SampledPositions>& samplers, int64_t samples,
                        const JobContext& job);

// Record `cream_theorems`: CreamLargestCoverage of each choice of segments that the sampler `cream`
// takes with these options, over the axis `segments`. Segments without head or tail, for which the
// theorems are not stated, are left out, so the axis can be empty.
Record CreamTheorems(const PositionRequest& request, const OptionSet& options);

}  // namespace midscope

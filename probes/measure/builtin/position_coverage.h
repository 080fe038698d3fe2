// SPDX-License-Identifier: MIT
// Makes records of sampled position ids: the ids, the relative distances and positions that they
// cover, and the bounds of CREAM's theorems. Needs no model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/positions/position_sampler.h"
#include "core/positions/relative_distances.h"

namespace midscope {

// Maximum context, in tokens; limited because every distance is counted separately.
inline constexpr int64_t kLongestCoveredContext = 1 << 20;

// A sampler of position ids with its request and options, ready to draw.
struct SampledPositions {
  std::string sampler;  // "cream"
  PositionRequest request;
  DrawPositions draw;
};

// Prepares a sampler. Throws Error (usage) in the same cases as PreparePositions.
SampledPositions MakeSampledPositions(const PositionSampler& sampler,
                                      const PositionRequest& request, const OptionSet& options);

// Draws samples `first` to first + samples - 1 and returns record `positions`: position_id and
// token_index [sample, token], integers. Throws Cancelled.
Record PositionSamples(const SampledPositions& positions, int64_t first, int64_t samples,
                       const JobContext& job);

// Returns record `position_coverage` of samples 0 to `samples` - 1 of each sampler; all samplers
// must have the same context:
// clang-format off
//   coverage [sampler, samples]: share of the distances 0 to L-1 that occur between a query and a
//   key in the first samples (D_r of CREAM, arXiv 2406.07138, Eq. 2, united over samples);
//   pairs_per_sample [sampler, distance]: mean number of pairs of that distance;
//   first_sample [sampler, distance]: number of samples after which the distance occurs; 0: never;
//   shown [sampler, position]: share of the samples with the position id. The middle of CREAM
//   is the part between its ends, which are 1.
// clang-format on
// Throws Error (usage) if the context exceeds kLongestCoveredContext; Cancelled.
Record PositionCoverage(const std::vector<SampledPositions>& samplers, int64_t samples,
                        const JobContext& job);

// Returns record `cream_theorems`: CreamLargestCoverage, over the axis `segments`, of each choice
// of segments that the sampler `cream` uses with these options. Segments without head or tail,
// which the theorems do not cover, are omitted, so that the axis may be empty.
Record CreamTheorems(const PositionRequest& request, const OptionSet& options);

}  // namespace midscope

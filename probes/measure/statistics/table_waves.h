// SPDX-License-Identifier: MIT
// The waves that form a table of positions, and the similarity of its rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

struct ChannelPeriods {
  // [channel] positions that the largest component of the channel's Fourier transform takes to
  // turn once; its mean is left out. NaN: the channel is constant.
  std::vector<double> period;
  // [channel] share of the channel's variance over positions that this component has.
  std::vector<double> share;
};

// table [position, channel].
ChannelPeriods PeriodsOfChannels(std::span<const float> table, int64_t channels);

// Mean over positions of the cosine of two rows at each distance. table [position, channel];
// returns [distance], as many as there are positions.
std::vector<double> SimilarityByDistance(std::span<const float> table, int64_t channels);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Analyses a table of position embeddings: the waves in its channels, the similarity of its rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

struct ChannelPeriods {
  // [channel]: period, in positions, of the largest component of the channel's Fourier transform,
  // excluding the mean. NaN: the channel is constant.
  std::vector<double> period;
  // [channel]: share of that largest Fourier component in the channel's variance over positions.
  std::vector<double> share;
};

// Returns the main period of every channel of a table [position, channel].
ChannelPeriods PeriodsOfChannels(std::span<const float> table, int64_t channels);

// Returns the cosine of two rows of a table [position, channel] as a function of their distance,
// averaged over positions; [distance], as many as positions.
std::vector<double> SimilarityByDistance(std::span<const float> table, int64_t channels);

}  // namespace midscope

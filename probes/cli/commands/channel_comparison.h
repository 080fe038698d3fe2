// SPDX-License-Identifier: MIT
// Compares the positional channels of two models: the search of `midscope channels` without trials,
// on the same prompts of random text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/record.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"

namespace midscope::cli {

// The channels of one model, as in record channel_search.
struct RankedChannels {
  std::vector<int64_t> trend;            // [channel]: 1 rising, -1 falling, 0 none
  std::vector<int64_t> monotone_layers;  // [channel]: number of layers with that trend
  std::vector<double> smoothness;        // [channel]: lower is better; NaN: not a candidate
  std::vector<int64_t> ranked;           // [rank]: the candidates, the smoothest first
  int64_t layers = 0;                    // number of layers examined

  // Returns the rank of a channel, 1 for the smoothest; 0 if it is not a candidate.
  int64_t RankOf(int64_t channel) const;
};

struct ChannelComparison {
  RankedChannels before;
  RankedChannels after;

  // Returns the highest-ranked channels of model BEFORE, then those of model AFTER that are not
  // among them. In models of different sizes, equal numbers are different channels.
  struct Row {
    int64_t channel = 0;
    bool in_before = true;
    bool in_after = true;
  };
  std::vector<Row> Largest() const;
};

// Ranks the channels of both models on --channel-prompts prompts and writes the results to files
// whose names begin with `stem`. Throws in the same cases as `midscope channels`.
ChannelComparison CompareChannels(const CommandInput& input, const std::string& stem);

Printout ChannelComparisonText(const ChannelComparison& comparison);
// Returns a JSON list with one object per row of the comparison.
nlohmann::ordered_json ChannelComparisonJson(const ChannelComparison& comparison);
// Returns record channel_comparison: trend, monotone_layers, smoothness and rank of every channel,
// ARRAY_before [channel_before] and ARRAY_after [channel_after].
Record ChannelComparisonRecord(const ChannelComparison& comparison);

}  // namespace midscope::cli

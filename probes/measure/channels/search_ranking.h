// SPDX-License-Identifier: MIT
// How a search for channels (channel_search.h) orders its candidates.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace midscope {

// Selects and orders the candidates: the paper's rule, and the ablations of its Table 3 (appendix
// A.2). "top" is FindChannelsRun::top, 10 in the paper.
enum class SearchRanking {
  kFull,            // channels with a trend in more layers than the threshold, smoothest first
  kNoMonotonicity,  // all channels, smoothest first; smoothness is the minimum over all examined
                    // layers
  kNoSmoothness,    // channels with a trend in any layer, by the number of such layers
  kNoValidation,    // the top channels by that number, smoothest first; not validated
};

struct RankingName {
  SearchRanking ranking;
  const char* name;  // value of option --ranking, also in plans and records
  const char* text;  // description for users
};
inline constexpr RankingName kRankings[] = {
    {SearchRanking::kFull, "full", "channels over the threshold, smoothest first"},
    {SearchRanking::kNoMonotonicity, "no-monotonicity", "all channels, smoothest first"},
    {SearchRanking::kNoSmoothness, "no-smoothness", "channels by their number of monotone layers"},
    {SearchRanking::kNoValidation, "no-validation",
     "the first channels by their number of monotone layers, smoothest first"}};

inline const RankingName& NameOf(SearchRanking ranking) {
  return *std::find_if(std::begin(kRankings), std::end(kRankings),
                       [&](const RankingName& one) { return one.ranking == ranking; });
}

// Finds a ranking by name; returns kFull if there is none of that name.
inline const RankingName& FindRanking(std::string_view name) {
  for (const RankingName& one : kRankings) {
    if (one.name == name) return one;
  }
  return NameOf(SearchRanking::kFull);
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The options of a search for channels, shared by the command line, the window's form and the
// engine's request.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/intervention/intervention.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// Returns the options of the search, of the validation and of the prompt format.
std::vector<Parameter> ChannelOptions();

// Returns the options that were set explicitly, as a JSON object. Defaults are not included because
// they depend on other options (variant, preset).
std::string StatedJson(const OptionSet& options);

// Checks the options as far as possible without a model. Throws Error (usage).
void CheckChannelOptions(const OptionSet& options);

// Values that several options determine together.

// Default values of several options, selected by option --preset; other options override them.
struct ChannelPreset {
  int64_t prompts = 24;
  std::string validate = "list";
  std::string pairs = "10";
  std::string key_value_places;  // gold places; "": the task's default
  int64_t list_examples = 100;
  int64_t key_value_examples = 40;
};

// Returns whether the option affects only the validation.
bool IsOfTrials(const std::string& option);
ChannelPreset ReadPreset(const OptionSet& options);
// Returns the values of option --factors. Throws Error (usage) if they are not a list of numbers.
// `is_code`: use the default of the public code.
std::vector<double> ReadFactors(const OptionSet& options, bool is_code);
PromptFormat ReadFormat(const OptionSet& options);
// Returns the kind of validation; "none" for --ranking no-validation.
std::string ValidationKind(const OptionSet& options);

// Returns the default layers in which a positional channel is scaled: from a quarter (rounded up)
// to five sixths of the model's layers, 8-25 of 30; close to the published layers.
LayerSet MiddleLayers(int64_t model_layers);

// Returns the layers in which the paper scales channels (Table 5), for a model's number of layers:
// 10-22 of 28, 10-25 of 32, 10-34 of 40, 10-42 of 48; nullopt for other numbers.
std::optional<LayerSet> PublishedLayers(int64_t model_layers);

// How a search for channels (channel_search.h) selects and orders its candidates: the paper's rule,
// and the ablations of its Table 3 (appendix A.2). "top" is FindChannelsRun::top, 10 in the paper.
enum class SearchRanking {
  kFull,            // channels with a trend in more layers than the threshold, smoothest first
  kNoMonotonicity,  // all channels, smoothest first; smoothness is the minimum over all examined
                    // layers
  kNoSmoothness,    // channels with a trend in any layer, by the number of layers with a trend
  kNoValidation,    // the top channels by number of layers with a trend, smoothest first; not
                    // validated
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

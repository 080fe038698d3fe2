// SPDX-License-Identifier: MIT
#include "probes/sweep/prompt_cuts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/number_text.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {

PromptCuts PromptCutsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes) {
  const size_t places = plan.places.size();
  PromptCuts cuts{static_cast<int64_t>(outcomes.size()), std::vector<int64_t>(places),
                  std::vector<int64_t>(places)};
  for (const SampleOutcome& outcome : outcomes) {
    for (size_t place = 0; place < std::min(places, outcome.prompt_cut.size()); ++place) {
      cuts.cut[place] += outcome.prompt_cut[place];
      const bool has_gold = outcome.gold_token_begin.at(place) >= 0;
      cuts.gold_cut[place] += has_gold ? 0 : 1;
    }
  }
  return cuts;
}

void AddPromptCuts(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                   Record& record) {
  const bool cuts = std::any_of(outcomes.begin(), outcomes.end(),
                                [](const auto& outcome) { return !outcome.prompt_cut.empty(); });
  if (!cuts) return;
  PromptCuts counts = PromptCutsOf(plan, outcomes);
  record.arrays.push_back({"cut_samples",
                           {"place"},
                           std::move(counts.cut),
                           "",
                           "samples whose prompt the task cut to its tokens"});
  record.arrays.push_back({"gold_cut_samples",
                           {"place"},
                           std::move(counts.gold_cut),
                           "",
                           "of these, samples of whose gold piece nothing is left"});
}

std::string PromptCutsText(const SweepPlan& plan, const PromptCuts& cuts) {
  const std::string all = CountText(cuts.samples, "sample");
  std::string golds;
  std::string others;
  for (size_t place = 0; place < plan.places.size(); ++place) {
    const std::string name = PlaceText(plan, plan.places[place]);
    const int64_t gold = cuts.gold_cut[place];
    if (gold > 0) golds += fmt::format("gold cut out in {} of {} at place {}\n", gold, all, name);
    const int64_t other = cuts.cut[place] - gold;
    if (other == 0) continue;
    others += others.empty() ? fmt::format("prompt cut in {} of {} at place {}", other, all, name)
                             : fmt::format(", {} at {}", other, name);
  }
  return golds + (others.empty() ? "" : others + "\n");
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Many settings in one call give the same results as separate calls, and leave the traces of `none`
// unchanged.
//
// Contract (float32): |difference| of logits <= 1e-3, of answers' scores <= 2e-3 nats, as between
// what-if and full runs. The same settings give the same bits in every call.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/deep_decoder.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

// Late rows from low and high layers, several kinds; nothing; early rows; a mean of all rows.
constexpr const char* kSettings[] = {
    "ablate(L3H2, rows=answer)",
    "ablate([L3H0, L29H8], rows=answer)",
    "ablate(L28H1, rows=last)",
    "channel(100, factor=-1, layers=8-25)",
    "channel(100, factor=0, layers=4, rows=last)",
    "temperature(L12H3, 2, rows=answer)",
    "boost(span=10:20, factor=0, layers=5-9)",
    "none",
    "pi(1.5)",
    "ablate(L7H1)",
    "ablate(L7H1, with=mean, rows=answer)",
    "ablate(L3H1, rows=answer)",
    "ablate(L3H3, rows=answer)",
    "ablate(L3H4, rows=answer)",
    "ms-poe(rows=last)",
    "self-extend(group=3, window=20, rows=answer)",
    "block(from=last, to=20:30, heads=L5H*)",
    "streaming(heads=[L3G0,L9H0-3], sink=2, recent=20, rows=answer)",
    "boost(span=20:30, factor=3, heads=[L9H0-3,L12H1])",
    "attend(24, layers=9-20)",
};

std::vector<Intervention> EachSettings() {
  std::vector<Intervention> settings;
  for (const char* text : kSettings) settings.push_back(ParseIntervention(text));
  return settings;
}

std::vector<Prompt> EachPrompts(const Decoder& decoder) {
  std::vector<Prompt> prompts(3);
  const int64_t lengths[] = {90, 61, 75};
  for (size_t i = 0; i < prompts.size(); ++i) {
    prompts[i].ids = testing::SomeIds(decoder, lengths[i], i + 1);
    prompts[i].answer_ids = testing::SomeIds(decoder, i == 1 ? 1 : 4, 50 + i);
  }
  return prompts;
}

using Outcomes = std::map<std::pair<size_t, size_t>, WhatIfOutcome>;

Outcomes Each(WhatIf& what_if, const std::vector<Intervention>& settings) {
  Outcomes outcomes;
  what_if.EvaluateEach(settings, [&](size_t setting, size_t prompt, const WhatIfOutcome& outcome) {
    const bool is_new = outcomes.emplace(std::pair{setting, prompt}, outcome).second;
    EXPECT_TRUE(is_new) << kSettings[setting] << " is told of twice";
  });
  return outcomes;
}

TEST(WhatIfEach, EqualsEachSettingAlone) {
  const auto decoder = testing::DeepDecoder();
  const std::vector<Intervention> settings = EachSettings();
  WhatIf together(decoder, EachPrompts(*decoder));
  WhatIf alone(decoder, EachPrompts(*decoder));
  const Outcomes outcomes = Each(together, settings);
  ASSERT_EQ(outcomes.size(), settings.size() * 3);
  double changed = 0;
  for (size_t setting = 0; setting < settings.size(); ++setting) {
    const WhatIfResult expected = alone.Evaluate(settings[setting], {}, false);
    const WhatIfResult none = alone.Evaluate(Intervention{}, {}, false);
    for (size_t prompt = 0; prompt < 3; ++prompt) {
      const WhatIfOutcome& actual = outcomes.at({setting, prompt});
      const WhatIfOutcome& wanted = expected.outcomes[prompt];
      EXPECT_LE(test::Difference(actual.last_logits, wanted.last_logits), 1e-3)
          << kSettings[setting] << ", prompt " << prompt;
      EXPECT_NEAR(actual.score.nll, wanted.score.nll, 2e-3) << kSettings[setting];
      changed = std::max(changed,
                         test::Difference(actual.last_logits, none.outcomes[prompt].last_logits));
    }
  }
  EXPECT_GT(changed, 0.1);
}

TEST(WhatIfEach, LeavesTracesAsTheyWere) {
  const auto decoder = testing::DeepDecoder();
  std::vector<Intervention> late = EachSettings();
  std::erase_if(late, [](const Intervention& setting) {
    return setting == ParseIntervention("pi(1.5)") ||
           setting == ParseIntervention("ablate(L7H1)") ||
           setting == ParseIntervention("attend(24, layers=9-20)") ||
           setting == ParseIntervention("ablate(L7H1, with=mean, rows=answer)");
  });
  WhatIf what_if(decoder, EachPrompts(*decoder));
  const Outcomes first = Each(what_if, late);
  EXPECT_EQ(what_if.Estimate(Intervention{}).share, 0);
  const Outcomes second = Each(what_if, late);
  for (const auto& [at, outcome] : first) {
    EXPECT_EQ(outcome.last_logits, second.at(at).last_logits);
    EXPECT_EQ(outcome.score.nll, second.at(at).score.nll);
  }
  // Rows of the traces too: what is run on top of them equals what is run on fresh ones.
  WhatIf fresh(decoder, EachPrompts(*decoder));
  const Intervention later = ParseIntervention("channel(7, factor=2, rows=last)");
  const WhatIfResult used = what_if.Evaluate(later, {}, false);
  fresh.Evaluate(Intervention{}, {}, false);
  const WhatIfResult wanted = fresh.Evaluate(later, {}, false);
  for (size_t prompt = 0; prompt < 3; ++prompt)
    EXPECT_EQ(used.outcomes[prompt].last_logits, wanted.outcomes[prompt].last_logits);
}

TEST(WhatIfEach, WorksWithoutRoomForTraces) {
  const auto decoder = testing::DeepDecoder();
  const std::vector<Intervention> settings = {ParseIntervention(kSettings[0]),
                                              ParseIntervention(kSettings[3])};
  WhatIf plenty(decoder, EachPrompts(*decoder));
  const Outcomes wanted = Each(plenty, settings);
  // For nothing, and for the upper half of the layers.
  for (const int64_t limit : {int64_t{1}, decoder->TraceBytes(230) / 2}) {
    WhatIf what_if(decoder, EachPrompts(*decoder), limit);
    const Outcomes outcomes = Each(what_if, settings);
    for (const auto& [at, outcome] : outcomes)
      EXPECT_LE(test::Difference(outcome.last_logits, wanted.at(at).last_logits), 1e-3);
  }
}

TEST(WhatIfEach, CanBeCancelled) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, EachPrompts(*decoder));
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  const std::vector<Intervention> settings = EachSettings();
  const auto stop = [&](size_t /*setting*/, size_t /*prompt*/, const WhatIfOutcome& /*outcome*/) {
    cancel = true;
  };
  EXPECT_THROW(what_if.EvaluateEach(settings, stop, context), Cancelled);
  cancel = false;
  WhatIf fresh(decoder, EachPrompts(*decoder));
  const Outcomes after = Each(what_if, settings);
  const Outcomes wanted = Each(fresh, settings);
  for (const auto& [at, outcome] : after)
    EXPECT_LE(test::Difference(outcome.last_logits, wanted.at(at).last_logits), 1e-3);
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Partial results that WhatIf reports for the shown prompt during a run.
//
// Contract: finished layers of every partial result equal those of the final result bit for bit;
// all other layers are NaN.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

constexpr size_t kShown = 1;

std::vector<Prompt> ThreePrompts(const Decoder& decoder) {
  std::vector<Prompt> prompts(3);
  for (size_t i = 0; i < prompts.size(); ++i) {
    prompts[i].ids = testing::SomeIds(decoder, 48, i + 1);
    // All begin alike, so that rows are shared where the setting allows it.
    const std::vector<int32_t> alike = testing::SomeIds(decoder, 40, 9);
    std::copy(alike.begin(), alike.end(), prompts[i].ids.begin());
    prompts[i].answer_ids = testing::SomeIds(decoder, 2, 50 + i);
  }
  return prompts;
}

// Every layer is reported.
WhatIfShown EveryLayer(std::function<void(const WhatIfPart&)> partial) {
  WhatIfShown shown{kShown, std::move(partial)};
  shown.first_after = shown.interval = std::chrono::milliseconds(0);
  return shown;
}

template <typename Number>
void ExpectFinished(const std::vector<Number>& part, const std::vector<Number>& whole,
                    int64_t layers_done, int64_t layers) {
  ASSERT_EQ(part.size(), whole.size());
  const size_t finished =
      part.size() / static_cast<size_t>(layers) * static_cast<size_t>(layers_done);
  EXPECT_EQ(std::memcmp(part.data(), whole.data(), finished * sizeof(Number)), 0);
  for (size_t i = finished; i < part.size(); ++i) ASSERT_TRUE(std::isnan(part[i])) << i;
}

TEST(WhatIfParts, FinishedLayersEqualTheResultBitForBit) {
  const auto decoder = testing::EmbeddedDecoder();
  const int64_t layers = decoder->config().layers;
  WhatIf what_if(decoder, ThreePrompts(*decoder), 0, /*position_awareness=*/true);
  what_if.Evaluate({});
  for (const char* setting :
       {"ms-poe", "ms-poe(max=1.6, order=entropy)", "ms-poe(max=1.4, mode=code)", "pi(1.5)",
        "ms-poe(first_layer=11) + channel(100, factor=0, layers=8-25)"}) {
    SCOPED_TRACE(setting);
    std::vector<WhatIfPart> parts;
    const WhatIfShown shown = EveryLayer([&](const WhatIfPart& part) { parts.push_back(part); });
    const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting), {}, true, &shown);
    const WhatIfOutcome& whole = result.outcomes[kShown];
    // A part for each layer that is run but the last, and one of the whole prompt.
    ASSERT_EQ(parts.size(), static_cast<size_t>(layers - result.first_layer));
    for (const WhatIfPart& part : parts) {
      ExpectFinished(part.outcome.last_query_attention, whole.last_query_attention,
                     part.layers_done, layers);
      ExpectFinished(part.outcome.position_awareness, whole.position_awareness, part.layers_done,
                     layers);
      ExpectFinished(part.outcome.position_ratio.values, whole.position_ratio.values,
                     part.layers_done, layers);
      EXPECT_EQ(part.outcome.last_logits.empty(), part.layers_done < layers);
    }
    EXPECT_EQ(parts.front().layers_done, result.first_layer + 1);
    EXPECT_EQ(parts.back().layers_done, layers);
    EXPECT_EQ(parts.back().outcome.last_logits, whole.last_logits);
    EXPECT_EQ(parts.back().outcome.score.nll, whole.score.nll);
    EXPECT_EQ(parts.back().trace, what_if.trace(kShown));
  }
}

TEST(WhatIfParts, ARunThatIsDoneSoonIsToldOfOnce) {
  const auto decoder = testing::EmbeddedDecoder();
  WhatIf what_if(decoder, ThreePrompts(*decoder));
  what_if.Evaluate({});
  std::vector<int64_t> told;
  WhatIfShown shown{kShown, [&](const WhatIfPart& part) { told.push_back(part.layers_done); }};
  shown.first_after = std::chrono::hours(1);
  what_if.Evaluate(ParseIntervention("channel(100, factor=-1)"), {}, true, &shown);
  EXPECT_EQ(told, std::vector<int64_t>{decoder->config().layers});
  // Nothing is run, so nothing is reported.
  what_if.Evaluate(ParseIntervention("channel(100, factor=-1)"), {}, true, &shown);
  EXPECT_EQ(told.size(), 1u);
}

// A part must not show what an earlier run left in layers that this one has not reached.
TEST(WhatIfParts, AfterACancelledRunThePartsAreThoseOfTheNext) {
  const auto decoder = testing::EmbeddedDecoder();
  const int64_t layers = decoder->config().layers;
  WhatIf what_if(decoder, ThreePrompts(*decoder));
  what_if.Evaluate({});
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  const WhatIfShown stop =
      EveryLayer([&](const WhatIfPart& part) { cancel = part.layers_done > 9; });
  EXPECT_THROW(what_if.Evaluate(ParseIntervention("ms-poe(max=1.9)"), context, true, &stop),
               Cancelled);
  std::vector<WhatIfPart> parts;
  const WhatIfShown shown = EveryLayer([&](const WhatIfPart& part) { parts.push_back(part); });
  const WhatIfResult result =
      what_if.Evaluate(ParseIntervention("ms-poe(max=1.3)"), {}, true, &shown);
  ASSERT_FALSE(parts.empty());
  for (const WhatIfPart& part : parts) {
    ExpectFinished(part.outcome.last_query_attention, result.outcomes[kShown].last_query_attention,
                   part.layers_done, layers);
    ExpectFinished(part.outcome.position_ratio.values,
                   result.outcomes[kShown].position_ratio.values, part.layers_done, layers);
  }
}

}  // namespace
}  // namespace midscope

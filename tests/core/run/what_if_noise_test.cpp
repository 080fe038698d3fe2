// SPDX-License-Identifier: MIT
// In bfloat16, the outcome of a setting does not depend on the settings and prompts that were
// evaluated before, although rows that are run alone differ from those of a whole run.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/run/what_if_pair.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

// Prompts with answers of 1, 3 and 12 tokens: the last is run apart from the others.
std::vector<Prompt> PromptsOf(const Decoder& decoder) {
  std::vector<Prompt> prompts(3);
  const int64_t answers[] = {1, 3, 12};
  for (size_t i = 0; i < prompts.size(); ++i) {
    prompts[i].ids = testing::SomeIds(decoder, 90, i + 1);
    prompts[i].answer_ids = testing::SomeIds(decoder, answers[i], 50 + i);
  }
  return prompts;
}

class OneModel : public ::testing::Test {
 protected:
  OneModel() { pair_.RunLastRowsAlone(); }
  WhatIfResult Run(const std::string& setting, size_t shown = 0) {
    WhatIfShown first;
    first.prompt = shown;
    return pair_.Evaluate(ParseIntervention(setting), {}, /*attention=*/true, &first);
  }
  void ExpectAsBefore(const WhatIfResult& before, const WhatIfResult& after) {
    for (size_t i = 0; i < before.outcomes.size(); ++i) {
      EXPECT_EQ(before.outcomes[i].score.nll, after.outcomes[i].score.nll) << i;
      EXPECT_EQ(before.outcomes[i].last_logits, after.outcomes[i].last_logits) << i;
      EXPECT_EQ(before.outcomes[i].last_query_attention, after.outcomes[i].last_query_attention)
          << i;
    }
  }

  std::shared_ptr<const Decoder> decoder_ = testing::EmbeddedDecoder(kernels::Dtype::kBFloat16);
  WhatIfPair pair_{decoder_, PromptsOf(*decoder_)};
};

TEST_F(OneModel, AnOutcomeIsEqualAfterOtherSettings) {
  const WhatIfResult before = Run("none");
  Run("channel(100, factor=-1, rows=last)");
  Run("ms-poe");
  Run("ablate(L3H1, rows=answer)", 2);
  ExpectAsBefore(before, Run("none", 1));
}

TEST_F(OneModel, ATermWithoutEffectChangesNoBit) {
  const WhatIfResult before = Run("none");
  Run("channel(100, factor=-1, rows=last)", 1);
  ExpectAsBefore(before, Run("self-extend(window=100000)", 2));
}

TEST_F(OneModel, NoiseIsMeasuredInBFloat16) {
  for (const WhatIfOutcome& outcome : Run("none").outcomes) {
    ASSERT_TRUE(outcome.noise.has_value());
    EXPECT_LT(*outcome.noise, 2);
  }
  WhatIf whole(decoder_, PromptsOf(*decoder_));
  for (const WhatIfOutcome& outcome : whole.Evaluate(Intervention{}).outcomes)
    EXPECT_FALSE(outcome.noise.has_value());
  WhatIf exact(testing::EmbeddedDecoder(), PromptsOf(*decoder_));
  exact.RunLastRowsAlone();
  for (const WhatIfOutcome& outcome : exact.Evaluate(Intervention{}).outcomes)
    EXPECT_FALSE(outcome.noise.has_value());
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Attribution and bands find what is planted in a model made by hand, and find nothing in a model
// without it.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "tests/probes/support/attribution_golden.h"
#include "tests/probes/support/planted_model.h"

namespace midscope {
namespace {

using testing::MeasureProbe;
namespace planted = testing::planted;

std::vector<double> HeadsOf(const Decoder& decoder, int64_t gold, int64_t other) {
  const Record record =
      MeasureProbe(decoder, planted::MakePrompt(gold, other), "answer_attribution");
  EXPECT_EQ(std::get<int64_t>(record.attributes.at("against_token")), 'B');
  return ArrayValues<double>(record, "answer_attribution");
}

TEST(PlantedModel, AttributionPointsAtThePlantedHeadAlone) {
  const auto with = planted::MakeModel(4);
  const std::vector<double> near = HeadsOf(*with, 20, 2);
  const std::vector<double> far = HeadsOf(*with, 2, 20);
  for (int64_t head = 0; head < planted::kLayers * planted::kHeads; ++head) {
    const auto at = static_cast<size_t>(head);
    if (head == planted::kLayer * planted::kHeads + planted::kHead) {
      EXPECT_GT(near[at], 0.05);
      EXPECT_LT(far[at], -0.05);
    } else {
      EXPECT_NEAR(near[at], 0, 1e-6) << head;
      EXPECT_NEAR(far[at], 0, 1e-6) << head;
    }
  }
  const auto without = planted::MakeModel(0);
  for (const double value : HeadsOf(*without, 20, 2)) EXPECT_NEAR(value, 0, 1e-6);
}

TEST(PlantedModel, AttributionIsReadFromTheTokensThemselves) {
  const Record record = MeasureProbe(*planted::MakeModel(4), planted::MakePrompt(20, 2),
                                     "answer_attribution", {{"attribution-keys", "true"}});
  const auto& of_key = ArrayValues<double>(record, "answer_attribution_of_key");
  for (size_t key = 0; key < of_key.size(); ++key) {
    if (key == 20) {
      EXPECT_GT(of_key[key], 0.05);
    } else if (key == 2) {
      EXPECT_LT(of_key[key], 0);
    } else {
      EXPECT_NEAR(of_key[key], 0, 1e-6) << key;
    }
  }
}

TEST(PlantedModel, BandsPointAtThePlantedPairAlone) {
  for (const float strength : {4.0f, 0.0f}) {
    const auto decoder = planted::MakeModel(strength);
    const Record record = MeasureProbe(*decoder, planted::MakePrompt(20, 2), "rope_bands");
    const auto& bands = ArrayValues<double>(record, "rope_bands");
    const auto at = [&](int64_t target, int64_t layer, int64_t head, int64_t pair) {
      return bands[static_cast<size_t>(
          ((target * planted::kLayers + layer) * planted::kHeads + head) * planted::kPairs + pair)];
    };
    for (int64_t layer = 0; layer < planted::kLayers; ++layer) {
      for (int64_t head = 0; head < planted::kHeads; ++head) {
        for (int64_t pair = 0; pair < planted::kPairs; ++pair) {
          const bool planted = strength > 0 && layer == planted::kLayer && head == planted::kHead &&
                               pair == planted::kPair;
          for (int64_t target = 0; target < 3; ++target) {
            if (planted) continue;
            EXPECT_NEAR(at(target, layer, head, pair), 0, 1e-6);
          }
          if (!planted) continue;
          // Largest for the last tokens, smaller for the gold four tokens away, smallest for the
          // first tokens.
          EXPECT_GT(at(2, layer, head, pair), at(0, layer, head, pair) + 0.1);
          EXPECT_GT(at(0, layer, head, pair), at(1, layer, head, pair) + 10);
        }
      }
    }
    EXPECT_NEAR(ArrayValues<double>(record, "wavelength")[planted::kPair], 62.83, 0.01);
  }
}

TEST(PlantedModel, KeysDriftWhereItWasPlanted) {
  for (const float strength : {4.0f, 0.0f}) {
    const Record record =
        MeasureProbe(*planted::MakeModel(strength), planted::MakePrompt(20, 2), "key_drift");
    const auto& slopes = ArrayValues<double>(record, "key_slope");
    for (int64_t head = 0; head < planted::kLayers * planted::kHeads; ++head) {
      // The planted key is shared with the next head (grouped heads), whose queries are 0.
      const bool drifts =
          strength > 0 && head / 2 == (planted::kLayer * planted::kHeads + planted::kHead) / 2;
      if (drifts) {
        EXPECT_GT(std::abs(slopes[static_cast<size_t>(head)]), 0.1);
      } else {
        EXPECT_NEAR(slopes[static_cast<size_t>(head)], 0, 1e-6);
      }
    }
    const auto& strengths = ArrayValues<double>(record, "bias_strength");
    EXPECT_NEAR(strengths[planted::kLayer * planted::kHeads + planted::kHead + 1], 0, 1e-6);
  }
}

}  // namespace
}  // namespace midscope

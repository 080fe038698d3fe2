// SPDX-License-Identifier: MIT
// Patching between places finds what carries position in a model made by hand, and nothing in a
// model without it. The recovered amount is the share of recovered_share.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "probes/sweep/scan_effects.h"
#include "probes/sweep/sweep.h"
#include "tests/probes/support/planted_model.h"

namespace midscope {
namespace {

namespace planted = testing::planted;

constexpr int64_t kFar = 1;
constexpr int64_t kNear = 2;

Prompt PromptAt(int64_t sample, int64_t place) {
  const int64_t near = planted::kTokens - 4 - sample;
  const int64_t far = 2 + sample;
  return place == kNear ? planted::MakePrompt(near, far) : planted::MakePrompt(far, near);
}

// The gold piece is far from the end; values are taken from the run in which it is near.
ScanEffects ScanOf(float strength, const std::string& kind, const std::string& term) {
  SweepRun run;
  run.decoder = planted::MakeModel(strength);
  run.plan.samples = 4;
  run.plan.places = {kFar};
  ScanRange range;
  range.spans = {"gold", "last"};
  run.plan.scan = MakeScan(FindScanKind(kind), term, range, run.decoder->config());
  for (const std::string& setting : ScanSettings(*run.plan.scan))
    run.plan.settings.push_back(ReadSetting(setting));
  run.questions = [](int64_t sample) { return AnswerQuestions({PromptAt(sample, kFar)}); };
  run.prompt_at = PromptAt;
  return ScanEffectsOf(run.plan, RunSweep(run, {}).outcomes);
}

TEST(PatchPlanted, HeadsPointAtTheOneThatCarriesPosition) {
  const ScanEffects effects =
      ScanOf(4, "heads", "patch(from=place:2, what=z, span=last, heads={head})");
  ASSERT_EQ(effects.mean_shares.size(), static_cast<size_t>(planted::kLayers * planted::kHeads));
  for (int64_t head = 0; head < planted::kLayers * planted::kHeads; ++head) {
    const bool carries = head == planted::kLayer * planted::kHeads + planted::kHead;
    const double share = effects.mean_shares[static_cast<size_t>(head)].share;
    EXPECT_NEAR(share, carries ? 1 : 0, 1e-3) << head;
  }
}

// The samples' near places differ by one token, which is a small difference, and all of it comes
// through the planted head.
TEST(PatchPlanted, TheNextSampleIsASource) {
  const auto effects_from = [](const std::string& source) {
    return ScanOf(4, "heads", "patch(from=" + source + ", what=z, span=last, heads={head})").means;
  };
  const auto next = effects_from("next:2");
  const auto place = effects_from("place:2");
  for (int64_t head = 0; head < planted::kLayers * planted::kHeads; ++head) {
    const double effect = std::abs(next[static_cast<size_t>(head)].effect);
    if (head != planted::kLayer * planted::kHeads + planted::kHead) {
      EXPECT_LT(effect, 1e-5) << head;
      continue;
    }
    EXPECT_GT(effect, 1e-3);
    EXPECT_NE(next[static_cast<size_t>(head)].effect, place[static_cast<size_t>(head)].effect);
  }
}

TEST(PatchPlanted, LayersAndPassagesPointAtItsLayerAndTheLastRow) {
  const ScanEffects effects =
      ScanOf(4, "layer_spans", "patch(from=place:2, span={span}, layers={layer})");
  // By layer: gold, last.
  const std::vector<double> expected = {0, 0, 0, 1};
  ASSERT_EQ(effects.mean_shares.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(effects.mean_shares[i].share, expected[i], 1e-3) << i;
}

TEST(PatchPlanted, AttentionBringsItAndTheMlpNothing) {
  const auto share = [](const std::string& what) {
    return ScanOf(4, "layers", "patch(from=place:2, span=last, what=" + what + ", layers={layer})")
        .mean_shares[static_cast<size_t>(planted::kLayer)]
        .share;
  };
  EXPECT_NEAR(share("attn_out"), 1, 1e-3);
  EXPECT_NEAR(share("mlp_out"), 0, 1e-3);
  // Before rotation all queries are equal.
  EXPECT_NEAR(share("q"), 0, 1e-3);
}

TEST(PatchPlanted, NothingIsFoundWhereNothingIsPlanted) {
  const ScanEffects effects =
      ScanOf(0, "heads", "patch(from=place:2, what=z, span=last, heads={head})");
  for (size_t i = 0; i < effects.means.size(); ++i) {
    EXPECT_NEAR(effects.means[i].effect, 0, 1e-5);
    EXPECT_TRUE(std::isnan(effects.mean_shares[i].share));
  }
}

TEST(RecoveredShare, IsOfMeansWithTheErrorOfTheRatio) {
  const std::vector<double> source = {-2, -1, -3, -2};
  const std::vector<double> half = {-1, -0.5, -1.5, -1};
  const RecoveredShare exact = ShareOf(half, source);
  EXPECT_DOUBLE_EQ(exact.share, 0.5);
  EXPECT_NEAR(exact.interval.low, 0.5, 1e-12);
  const std::vector<double> noisy = {-1.2, -0.3, -1.5, -1};
  const RecoveredShare share = ShareOf(noisy, source);
  EXPECT_DOUBLE_EQ(share.share, 0.5);
  // 3.182 standard errors of {-0.2, 0.2, 0, 0}, divided by the mean of the source.
  const double error = std::sqrt(0.08 / 3 / 4) / 2;
  EXPECT_NEAR(share.interval.high - 0.5, 3.182446 * error, 1e-5);
  EXPECT_TRUE(std::isnan(ShareOf(half, std::vector<double>(4, 0.001)).share));
}

}  // namespace
}  // namespace midscope

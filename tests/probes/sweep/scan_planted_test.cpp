// SPDX-License-Identifier: MIT
// A scan finds the head that carries position in a model made by hand, and nothing in a model
// without it.
#include <gtest/gtest.h>

#include <cmath>

#include "probes/sweep/scan_effects.h"
#include "probes/sweep/sweep.h"
#include "tests/probes/support/planted_model.h"

namespace midscope {
namespace {

namespace planted = testing::planted;

constexpr int64_t kFarPlace = 1;
constexpr int64_t kNearPlace = 2;

ScanEffects PlantedScan(const std::shared_ptr<const Decoder>& decoder, const ScanKind& kind,
                        const std::string& term) {
  SweepRun run;
  run.decoder = decoder;
  run.plan.samples = 4;
  run.plan.places = {kFarPlace, kNearPlace};
  run.plan.scan = MakeScan(kind, term, {}, decoder->config());
  for (const std::string& setting : ScanSettings(*run.plan.scan))
    run.plan.settings.push_back(ReadSetting(setting));
  run.questions = [](int64_t sample) {
    const int64_t near = planted::kTokens - 4 - sample;
    const int64_t far = 2 + sample;
    std::vector<TaskQuestion> questions(2);
    questions[0].prompt = planted::MakePrompt(far, near);
    questions[1].prompt = planted::MakePrompt(near, far);
    return questions;
  };
  return ScanEffectsOf(run.plan, RunSweep(run, {}).outcomes);
}

// How much more an item matters if the gold piece is near than if it is far: [item].
std::vector<double> NearMinusFar(const ScanEffects& effects) {
  std::vector<double> differences;
  for (size_t i = 0; i < effects.places.size(); i += 2)
    differences.push_back(effects.places[i + 1].effect - effects.places[i].effect);
  return differences;
}

TEST(ScanPlanted, HeadsPointAtTheOneThatCarriesPosition) {
  const std::vector<double> differences =
      NearMinusFar(PlantedScan(planted::MakeModel(4), FindScanKind("heads"), ""));
  ASSERT_EQ(differences.size(), static_cast<size_t>(planted::kLayers * planted::kHeads));
  for (int64_t head = 0; head < planted::kLayers * planted::kHeads; ++head) {
    const double difference = differences[static_cast<size_t>(head)];
    if (head == planted::kLayer * planted::kHeads + planted::kHead) {
      EXPECT_GT(difference, 0.03);
    } else {
      // The other heads read both pieces equally; the remaining difference comes from the scale of
      // the final norm.
      EXPECT_LT(std::abs(difference), 0.003) << head;
    }
  }
}

// Checks kinds of scan whose items are independent.
void ExpectOneOf(const char* kind, int64_t items, int64_t planted_item) {
  const std::vector<double> differences =
      NearMinusFar(PlantedScan(planted::MakeModel(4), FindScanKind(kind), ""));
  ASSERT_EQ(differences.size(), static_cast<size_t>(items));
  for (int64_t item = 0; item < items; ++item) {
    const double difference = differences[static_cast<size_t>(item)];
    if (item == planted_item) {
      EXPECT_GT(difference, 0.03);
    } else {
      EXPECT_NEAR(difference, 0, 1e-5) << item;
    }
  }
}

TEST(ScanPlanted, LayersPointAtItsLayer) {
  ExpectOneOf("layers", planted::kLayers, planted::kLayer);
}

TEST(ScanPlanted, RotaryPairsPointAtTheOneThatCarriesPosition) {
  ExpectOneOf("rotary_pairs", planted::kPairs, planted::kPair);
}

// The planted query and key read one channel; the tokens' own channels are read only by values.
TEST(ScanPlanted, ChannelsPointAtTheOneThatIsRead) {
  ExpectOneOf("channels", planted::kHidden, planted::kConstant);
}

TEST(ScanPlanted, NothingIsFoundWhereNothingIsPlanted) {
  for (const char* kind : {"heads", "rotary_pairs", "channels"}) {
    for (const double difference :
         NearMinusFar(PlantedScan(planted::MakeModel(0), FindScanKind(kind), "")))
      EXPECT_NEAR(difference, 0, 1e-5) << kind;
  }
}

}  // namespace
}  // namespace midscope

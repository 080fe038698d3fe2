// SPDX-License-Identifier: MIT
#include "probes/sweep/scan_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "data/store/run_store.h"
#include "probes/base/records.h"
#include "probes/sweep/merged_means.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/probes/support/sweep_fixture.h"

namespace midscope {
namespace {

// Two heads of layer 2 and one of layer 5, at places 1, 4 and 9.
SweepPlan PlanOfThree() {
  SweepPlan plan;
  plan.places = {1, 4, 9};
  plan.scan = Scan{"heads",
                   "ablate({head}, rows=answer)",
                   {{"L2H0", "L2H0", {2, 0}}, {"L2H3", "L2H3", {2, 3}}, {"L5H3", "L5H3", {5, 3}}}};
  for (const std::string& setting : ScanSettings(*plan.scan))
    plan.settings.push_back(ReadSetting(setting));
  return plan;
}

// answer_nll of `none` is the sample's index; L2H3 adds 1 at the middle place, and L5H3 subtracts
// 0.5.
std::vector<SampleOutcome> Outcomes() {
  std::vector<SampleOutcome> outcomes;
  for (const int64_t sample : {2, 0, 1, 3}) {
    const auto none = static_cast<double>(sample);
    const double noise = sample % 2 == 0 ? 0.25 : -0.25;
    SampleOutcome outcome;
    outcome.sample = sample;
    outcome.answer_nll = {none,       none,
                          none,  // none
                          none,       none,
                          none,  // L2H0
                          none,       none + 1 + noise,
                          none,  // L2H3
                          none - 0.5, none - 0.5 + noise,
                          none - 0.5};  // L5H3
    outcome.correct.assign(12, 0);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

TEST(ScanEffects, AreDifferencesToTheUnchangedRun) {
  const ScanEffects effects = ScanEffectsOf(PlanOfThree(), Outcomes());
  EXPECT_EQ(effects.samples, 4);
  ASSERT_EQ(effects.places.size(), 9u);
  ASSERT_EQ(effects.means.size(), 3u);
  ASSERT_EQ(effects.middles.size(), 3u);
  EXPECT_EQ(effects.places[0].effect, 0);
  EXPECT_EQ(effects.places[0].p, 1);
  EXPECT_DOUBLE_EQ(effects.places[4].effect, 1);
  EXPECT_LT(effects.places[4].interval.low, 1);
  EXPECT_GT(effects.places[4].interval.low, 0);
  EXPECT_DOUBLE_EQ(effects.means[1].effect, 1.0 / 3);
  EXPECT_DOUBLE_EQ(effects.middles[1].effect, 1);
  EXPECT_DOUBLE_EQ(effects.means[2].effect, -0.5);
  EXPECT_NEAR(effects.middles[2].effect, 0, 1e-12);
}

TEST(ScanEffects, LieOnTheAxesOfTheKind) {
  const SweepPlan plan = PlanOfThree();
  Record record = ScanEffectsRecord(plan, ScanEffectsOf(plan, Outcomes()));
  record.Check();
  EXPECT_EQ(record.FindAxis("layer")->values, (std::vector<double>{2, 5}));
  EXPECT_EQ(record.FindAxis("head")->values, (std::vector<double>{0, 3}));
  EXPECT_EQ(record.FindArray("effect")->axes, (std::vector<std::string>{"layer", "head", "place"}));
  const auto& effect = ArrayValues<double>(record, "effect");
  EXPECT_DOUBLE_EQ(effect[4], 1);      // layer 2, head 3, place 4
  EXPECT_TRUE(std::isnan(effect[6]));  // layer 5, head 0
  EXPECT_DOUBLE_EQ(effect[9], -0.5);   // layer 5, head 3, place 1
  const auto& mean = ArrayValues<double>(record, "mean_effect");
  EXPECT_DOUBLE_EQ(mean[1], 1.0 / 3);
  EXPECT_TRUE(std::isnan(mean[2]));
}

class ScanSweep : public SweepTest {};

TEST_F(ScanSweep, EqualsTheSweepOfItsSettings) {
  ScanRange range;
  range.layers = {false, {{3, 3}}};
  const Scan scan = MakeScan(FindScanKind("heads"), "", range, testing::EmbeddedModel()->config());
  SweepRun apart = MakeRun(ScanSettings(scan));
  const SweepResult expected = RunSweep(apart, {});
  SweepRun run = MakeRun(ScanSettings(scan));
  run.plan.scan = scan;
  SweepStore store = Store(run);
  run.store = &store;
  const SweepResult result = RunSweep(run, {});
  ASSERT_EQ(result.outcomes.size(), 2u);
  for (size_t sample = 0; sample < 2; ++sample) {
    const auto& values = result.outcomes[sample].answer_nll;
    ASSERT_EQ(values.size(), 20u);
    for (size_t cell = 0; cell < values.size(); ++cell)
      EXPECT_NEAR(values[cell], expected.outcomes[sample].answer_nll[cell], 1e-3);
    EXPECT_NE(values[3], values[1]);  // with the first head, something changes
  }

  const RunReader reader(File());
  const SweepPlan stored = StoredPlan(reader);
  ASSERT_TRUE(stored.scan);
  EXPECT_EQ(stored.scan->term, scan.term);
  ASSERT_EQ(stored.scan->items.size(), scan.items.size());
  EXPECT_EQ(stored.scan->items[4].at, scan.items[4].at);
  const Record record = reader.Read(kScanRecord);
  const ScanEffects effects = ScanEffectsOf(run.plan, result.outcomes);
  EXPECT_EQ(ArrayValues<double>(record, "effect")[1], effects.places[1].effect);
}

TEST(StoredPlanTest, AFileWithoutPlanIsAnErrorWithItsRemedy) {
  const test::TemporaryFolder folder;
  const std::string path = folder.File("probe.h5");
  WriteRecords(path, {}, {});
  EXPECT_THAT(test::ErrorMessage([&] { StoredPlan(RunReader(path)); }),
              ::testing::EndsWith(
                  "probe.h5: has no plan of a sweep. Give a file of midscope sweep or scan"));
}

}  // namespace
}  // namespace midscope

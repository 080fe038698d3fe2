// SPDX-License-Identifier: MIT
// Scans of the window's engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/intervention/intervention_text.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using testing::Data;

class EngineScan : public testing::LocalEngineFixture {};

// What `midscope scan` stores of the same task, seed and samples, and nothing that was not run.
TEST_F(EngineScan, FillsItsRecordAndEqualsThatOfASweep) {
  SetSmallTask();
  ScanRequest request;
  request.range.layers = {false, {{3, 4}, {29, 29}}};
  request.samples = 3;
  request.first = {"L29H8", "L4H2"};
  std::vector<std::vector<double>> parts;
  std::vector<int64_t> reported;
  JobContext context;
  context.progress = [&](const Progress& progress) { reported.push_back(progress.done); };
  const Record scan = engine->Scan(
      request,
      [&](const Record& part) {
        EXPECT_EQ(std::get<int64_t>(part.attributes.at("complete")), 0);
        parts.push_back(Data<double>(part, "mean_effect"));
      },
      context);
  // Progress moves within a sample, up to every setting at every place.
  ASSERT_GT(reported.size(), 3u);
  EXPECT_LT(reported.front(), 28 * 2);
  EXPECT_EQ(reported.back(), 3 * 28 * 2);
  EXPECT_EQ(std::get<int64_t>(scan.attributes.at("complete")), 1);
  EXPECT_EQ(std::get<int64_t>(scan.attributes.at("samples")), 3);
  ASSERT_GE(parts.size(), 3u);  // at least one a sample
  const auto has_any = [](const std::vector<double>& part) {
    return std::any_of(part.begin(), part.end(), [](double x) { return !std::isnan(x); });
  };
  const auto first = std::find_if(parts.begin(), parts.end(), has_any);
  EXPECT_FALSE(std::isnan(first->at(26)));  // L29H8
  const auto& effects = Data<double>(scan, "mean_effect");
  ASSERT_EQ(effects.size(), 27u);
  for (size_t i = 0; i < effects.size(); ++i) EXPECT_NEAR(parts.back()[i], effects[i], 1e-12);

  CompareRequest compare;
  compare.settings = {ParseIntervention("none"), ParseIntervention("ablate(L4H2, rows=answer)")};
  compare.samples = 3;
  const auto nll = Data<double>(engine->Compare(compare, {}, {}), "answer_nll");
  const auto& by_place = Data<double>(scan, "effect");
  constexpr size_t kL4H2 = 9 + 2;  // layer 3's heads come first
  for (size_t place = 0; place < 2; ++place)
    EXPECT_NEAR(by_place[kL4H2 * 2 + place], nll[2 + place] - nll[place], 1e-3) << place;
}

TEST_F(EngineScan, GoesOnWhereItWasStopped) {
  SetSmallTask();
  ScanRequest request;
  request.over = "layers";
  request.samples = 4;
  std::atomic<bool> cancel = false;
  JobContext stopped;
  stopped.cancel = &cancel;
  const auto stop_after_two = [&](const Record& part) {
    cancel = std::get<int64_t>(part.attributes.at("samples")) == 2;
  };
  EXPECT_THROW(engine->Scan(request, stop_after_two, stopped), Cancelled);
  int64_t least = 4;
  const Record scan =
      engine->Scan(request,
                   [&](const Record& part) {
                     least = std::min(least, std::get<int64_t>(part.attributes.at("samples")));
                   },
                   {});
  EXPECT_GE(least, 2);
  SetSmallTask();  // forgets them
  EXPECT_EQ(Data<double>(scan, "effect"), Data<double>(engine->Scan(request, {}, {}), "effect"));
  request.term = "ablate(L3H1)";
  EXPECT_THROW(engine->Scan(request, {}, {}), Error);
}

}  // namespace
}  // namespace midscope

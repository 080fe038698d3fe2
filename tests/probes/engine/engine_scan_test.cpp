// SPDX-License-Identifier: MIT
// Scans in the window's engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using Clock = std::chrono::steady_clock;

using testing::Data;

class EngineScan : public testing::LocalEngineFixture {};

// The record equals that of `midscope scan` for the same task, seed and samples, except items that
// were not run.
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
  // Progress is reported within a sample, up to every setting at every place.
  ASSERT_GT(reported.size(), 3u);
  EXPECT_LT(reported.front(), 28 * 2);
  EXPECT_EQ(reported.back(), 3 * 28 * 2);
  EXPECT_EQ(std::get<int64_t>(scan.attributes.at("complete")), 1);
  EXPECT_EQ(std::get<int64_t>(scan.attributes.at("samples")), 3);
  ASSERT_GE(parts.size(), 3u);  // at least one per sample
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
  constexpr size_t kL4H2 = 9 + 2;  // the heads of layer 3 come first
  for (size_t place = 0; place < 2; ++place)
    EXPECT_NEAR(by_place[kL4H2 * 2 + place], nll[2 + place] - nll[place], 1e-3) << place;
}

// With a base, every item runs on top of it and is compared with it.
TEST_F(EngineScan, RunsOnTopOfItsBase) {
  SetSmallTask();
  ScanRequest request;
  request.base = ParseIntervention("channel(100, factor=-1, layers=8-25)");
  request.range.layers = {false, {{4, 4}}};
  request.samples = 2;
  const Record scan = engine->Scan(request, {}, {});
  EXPECT_EQ(std::get<std::string>(scan.attributes.at("base")), PrintIntervention(request.base));
  CompareRequest compare;
  compare.settings = {
      request.base,
      ParseIntervention("channel(100, factor=-1, layers=8-25) + ablate(L4H2, rows=answer)")};
  compare.samples = 2;
  const auto nll = Data<double>(engine->Compare(compare, {}, {}), "answer_nll");
  const auto& by_place = Data<double>(scan, "effect");
  for (size_t place = 0; place < 2; ++place)
    EXPECT_NEAR(by_place[size_t{2} * 2 + place], nll[2 + place] - nll[place], 1e-3) << place;
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
  EXPECT_EQ(least, 2);  // reported immediately
  SetSmallTask();       // drops the cached results
  EXPECT_EQ(Data<double>(scan, "effect"), Data<double>(engine->Scan(request, {}, {}), "effect"));
  request.term = "ablate(L3H1)";
  EXPECT_THROW(engine->Scan(request, {}, {}), Error);
}

// Within a sample, too: what has run is shown at once and is not run again.
TEST_F(EngineScan, KeepsTheItemsOfASampleThatWasStopped) {
  SetSmallTask();
  ScanRequest request;
  request.samples = 1;
  std::atomic<bool> cancel = false;
  JobContext stopped;
  stopped.cancel = &cancel;
  stopped.progress = [&](const Progress& progress) { cancel = progress.done >= 30; };
  EXPECT_THROW(engine->Scan(request, {}, stopped), Cancelled);
  std::vector<int64_t> reported;
  JobContext context;
  context.progress = [&](const Progress& progress) { reported.push_back(progress.done); };
  int64_t shown = 0;
  const Record scan = engine->Scan(
      request,
      [&](const Record& part) {
        if (shown > 0) return;
        for (const double x : Data<double>(part, "mean_effect")) shown += std::isnan(x) ? 0 : 1;
      },
      context);
  EXPECT_GE(shown, 10);
  ASSERT_GT(reported.size(), 2u);
  EXPECT_GT(reported.front(), 30);
  EXPECT_EQ(*std::max_element(reported.begin(), reported.end()), 271 * 2);
  SetSmallTask();
  const auto& effects = Data<double>(scan, "effect");
  const Record whole = engine->Scan(request, {}, {});
  for (size_t i = 0; i < effects.size(); ++i)
    EXPECT_NEAR(effects[i], Data<double>(whole, "effect")[i], 1e-3) << i;
}

// Items are compared over the same samples, even while a sample is running.
TEST_F(EngineScan, ItsPartsHaveWholeSamples) {
  SetSmallTask();
  ScanRequest request;
  request.over = "layers";
  request.samples = 3;
  std::vector<std::vector<double>> means(4);
  engine->Scan(request,
               [&](const Record& part) {
                 const auto samples = std::get<int64_t>(part.attributes.at("samples"));
                 const auto& mean = Data<double>(part, "mean_effect");
                 std::vector<double>& known = means.at(static_cast<size_t>(samples));
                 if (samples > 1 && !known.empty()) {
                   EXPECT_EQ(mean, known);
                 }
                 known = mean;
               },
               {});
  for (size_t samples = 1; samples <= 3; ++samples) ASSERT_EQ(means[samples].size(), 30u);
  EXPECT_NE(means[2], means[1]);
}

TEST_F(EngineScan, HasPlacesOfItsOwn) {
  SetSmallTask();
  ScanRequest request;
  request.over = "layers";
  request.range.layers = {false, {{3, 3}}};
  request.samples = 2;
  const Record own = engine->Scan(request, {}, {});
  request.places = "1,2,4";
  const Record three = engine->Scan(request, {}, {});
  ASSERT_EQ(three.FindAxis("place")->values, (std::vector<double>{1, 2, 4}));
  const auto& effect = Data<double>(three, "effect");
  ASSERT_EQ(effect.size(), 3u);
  EXPECT_NEAR(effect[0], Data<double>(own, "effect")[0], 1e-4);
  EXPECT_NEAR(effect[2], Data<double>(own, "effect")[1], 1e-4);
  // The means of a comparison do not reuse those of a scan at other places.
  CompareRequest compare;
  compare.settings = {ParseIntervention("pi(1.5)")};
  compare.beside = {ParseIntervention("none")};
  compare.samples = 2;
  const auto told = [](const Record& part) {
    EXPECT_EQ(Data<double>(part, "answer_nll").size(),
              2u * static_cast<size_t>(part.FindAxis("setting")->size));
  };
  engine->Compare(compare, told, {});
  request.places = "5";
  EXPECT_THROW(engine->Scan(request, {}, {}), Error);
}

TEST_F(EngineScan, TakesValuesFromANamedPrompt) {
  PromptRequest prompts;
  prompts.task = "list:lines=4";
  prompts.places = "1,4";
  const std::string text =
      std::get<std::string>(engine->SetPrompt(prompts, {}).front().attributes.at("text"));
  // A source with equal text changes nothing; another text does.
  prompts.sources = {{"same", {text}}, {"other", {"Frank bought: a boat. Frank bought:"}}};
  engine->SetPrompt(prompts, {});
  ScanRequest request;
  request.over = "layers";
  request.range.layers = {false, {{20, 20}}};
  request.places = "1";
  request.samples = 1;
  request.term = "patch(from=source:same, span=last, layers={layer})";
  EXPECT_NEAR(Data<double>(engine->Scan(request, {}, {}), "effect").front(), 0, 1e-4);
  request.term = "patch(from=source:other, span=last, layers={layer})";
  EXPECT_GT(std::abs(Data<double>(engine->Scan(request, {}, {}), "effect").front()), 1e-2);
}

TEST_F(EngineScan, IsCancelledWithinASecond) {
  PromptRequest prompts;
  prompts.task = "list:lines=40";
  prompts.places = "1,20,40";
  engine->SetPrompt(prompts, {});
  for (const char* over : {"heads", "layer_spans"}) {
    ScanRequest request;
    request.over = over;
    request.range.spans = {"gold", "question"};
    request.samples = 100;
    std::atomic<bool> cancel = false;
    JobContext context;
    context.cancel = &cancel;
    Clock::time_point asked;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      asked = Clock::now();
      cancel = true;
    });
    EXPECT_THROW(engine->Scan(request, {}, context), Cancelled) << over;
    const Clock::time_point ended = Clock::now();
    canceller.join();
    EXPECT_LT(ended - asked, std::chrono::seconds(1)) << over;
  }
}

}  // namespace
}  // namespace midscope

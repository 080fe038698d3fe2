// SPDX-License-Identifier: MIT
// Probes over samples in the window's engine.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using testing::Data;

class EngineProbeSamples : public testing::LocalEngineFixture {
 protected:
  static const Record& Named(const std::vector<Record>& records, const std::string& name) {
    for (const Record& record : records) {
      if (record.name == name) return record;
    }
    throw std::runtime_error("no record " + name);
  }
};

TEST_F(EngineProbeSamples, AreTheMeansOfSingleRuns) {
  ProbeSamplesRequest request;
  request.intervention = ParseIntervention("pi(1.5)");
  request.samples = 2;
  PromptRequest prompt;
  prompt.task = "list:lines=4";
  prompt.places = "1,4";
  constexpr size_t kHeads = size_t{30} * 9;
  std::vector<double> gold(2 * kHeads);  // [place, layer, head]
  std::vector<double> score(2 * kHeads);
  for (prompt.sample = 0; prompt.sample < 2; ++prompt.sample) {
    engine->SetPrompt(prompt, {});
    for (size_t place = 0; place < 2; ++place) {
      CaptureRunRequest run;
      run.place = place;
      run.intervention = request.intervention;
      run.probe_options = R"({"probes": "default,span_attention"})";
      const std::vector<Record> records = engine->CaptureRun(run, {}).records;
      const auto& on_gold = Data<double>(Named(records, "span_attention"), "gold_attention");
      const auto& scores =
          Data<float>(Named(records, "position_awareness"), "position_awareness_score");
      for (size_t i = 0; i < kHeads; ++i) {
        gold[place * kHeads + i] += on_gold[i] / 2;
        score[place * kHeads + i] += double{scores[i]} / 2;
      }
    }
  }
  SetSmallTask();
  std::vector<std::string> parts;
  const std::vector<Record> means =
      engine->ProbeSamples(request,
                           [&](const Record& part) {
                             EXPECT_EQ(std::get<int64_t>(part.attributes.at("complete")), 0);
                             EXPECT_EQ(std::get<int64_t>(part.attributes.at("samples")), 1);
                             parts.push_back(part.name);
                           },
                           {});
  EXPECT_EQ(parts.size(), 3u);  // one sample of each record
  ASSERT_EQ(means.size(), 3u);
  const Record& following = Named(means, "gold_following");
  EXPECT_EQ(std::get<int64_t>(following.attributes.at("samples")), 2);
  EXPECT_EQ(std::get<int64_t>(following.attributes.at("complete")), 1);
  EXPECT_EQ(std::get<std::string>(following.attributes.at("intervention")),
            PrintIntervention(request.intervention));
  const auto& mean_gold = Data<double>(following, "mean_gold_attention");
  const auto& mean_score =
      Data<double>(Named(means, "position_awareness_by_place"), "mean_position_awareness_score");
  ASSERT_EQ(mean_gold.size(), gold.size());
  for (size_t i = 0; i < gold.size(); ++i) {
    EXPECT_NEAR(mean_gold[i], gold[i], 1e-6);
    EXPECT_NEAR(mean_score[i], score[i], 1e-6);
  }
  // By passage in the order of the text: the gold is the passage at its place.
  const auto& passages = Data<double>(following, "mean_passage_attention");
  const size_t count = passages.size() / gold.size();
  ASSERT_GE(count, 4u);
  EXPECT_NEAR(passages[0], mean_gold[0], 1e-12);
}

TEST_F(EngineProbeSamples, ContinueFromFinishedSamples) {
  SetSmallTask();
  ProbeSamplesRequest request;
  request.samples = 3;
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  EXPECT_THROW(engine->ProbeSamples(
                   request, [&](const Record&) { cancel = true; }, context),
               Cancelled);
  std::vector<int64_t> begun;
  JobContext again;
  again.progress = [&](const Progress& progress) { begun.push_back(progress.done); };
  const std::vector<Record> resumed = engine->ProbeSamples(request, {}, again);
  ASSERT_FALSE(begun.empty());
  EXPECT_EQ(begun.front(), 2);  // both prompts of the first sample were finished
  SetSmallTask();
  const std::vector<Record> whole = engine->ProbeSamples(request, {}, {});
  ASSERT_EQ(resumed.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(resumed[i].arrays.size(), whole[i].arrays.size());
    for (size_t a = 0; a < whole[i].arrays.size(); ++a)
      EXPECT_EQ(resumed[i].arrays[a].data, whole[i].arrays[a].data) << whole[i].arrays[a].name;
  }
}

}  // namespace
}  // namespace midscope

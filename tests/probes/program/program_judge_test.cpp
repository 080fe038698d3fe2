// SPDX-License-Identifier: MIT
// `midscope judge`: scores of generated texts by a local model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "data/store/record_reader.h"
#include "probes/sweep/answer_judge.h"
#include "tests/probes/support/open_model.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ProgramJudge, ScoresTheTextsOfASweep) {
  const TemporaryFolder folder;
  const std::string run = folder.File("run.h5");
  RunWell({"sweep", "embedded", "--task", "needle:tokens=200", "--samples", "2", "--places",
           "0%,100%", "--with", "none", "--with", "pi(1.5)", "--score", "generation", "--out",
           run});
  const std::string out = folder.File("judged.h5");
  const ProgramRun judged = RunWell({"judge", run, "embedded", "--out", out});
  EXPECT_THAT(judged.out,
              AllOf(HasSubstr("judge's score"), HasSubstr("pi(1.5)"), HasSubstr("100 %")));
  const RunReader reader(out);
  const Record record = reader.Read("judge_scores");
  const auto& scores = std::get<std::vector<double>>(record.FindArray("judge_score")->data);
  const auto& shares = std::get<std::vector<double>>(record.FindArray("judge_share")->data);
  ASSERT_EQ(scores.size(), 8u);
  for (size_t i = 0; i < scores.size(); ++i) {
    double sum = 0;
    for (size_t s = 0; s < kJudgeScores.size(); ++s) {
      sum += shares[i * kJudgeScores.size() + s];
      // The score is the likeliest.
      if (static_cast<double>(kJudgeScores[s]) != scores[i]) continue;
      for (size_t t = 0; t < kJudgeScores.size(); ++t)
        EXPECT_GE(shares[i * kJudgeScores.size() + s], shares[i * kJudgeScores.size() + t]);
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
  EXPECT_THAT(std::get<std::string>(record.attributes.at("judged_command")), HasSubstr("sweep"));
  EXPECT_THAT(reader.provenance().command, HasSubstr("judge"));
  const json rows = json::parse(RunWell({"judge", run, "embedded", "--json"}).out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1]["place"], "100 %");
  EXPECT_NEAR(rows[0]["mean"].get<double>(), (scores[0] + scores[4]) / 2, 1e-12);

  const ProgramRun none = RunMidscope({"judge", out, "embedded"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("it has no generated texts of a sweep"));
}

// Shares are a softmax over likelihoods of the five scores, which follow the same prompt.
TEST(AnswerJudge, GivesTheSameSharesForTheSameAnswer) {
  const auto model = testing::EmbeddedModel();
  AnswerJudge judge(model);
  const JudgedAnswer answer = {"What is the capital of France?", "Paris", "It is Paris."};
  EXPECT_THAT(JudgePrompt(answer), AllOf(HasSubstr("Reference: Paris\n"), HasSubstr("It is Paris."),
                                         HasSubstr("aligns perfectly")));
  const auto shares = judge.Shares(answer, {});
  AnswerJudge again(model);
  EXPECT_EQ(again.Shares(answer, {}), shares);
  EXPECT_NE(judge.Shares({answer.question, answer.reference, "Bananas are blue."}, {}), shares);
  EXPECT_TRUE(judge.format().is_chat());
}

}  // namespace
}  // namespace midscope

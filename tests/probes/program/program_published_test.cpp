// SPDX-License-Identifier: MIT
// `midscope compare --published`: files of known numbers compared with papers' tables. The expected
// differences and intervals are calculated by hand (Wilson's score, Newcombe's method 10).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "data/published/tuning_recipe.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_store.h"
#include "probes/measure/statistics/group_means.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_statistics.h"
#include "tests/core/support/tiny_models.h"
#include "tests/data/support/example_records.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Numbers = std::vector<double>;

// Writes a sweep's file that contains `summaries`.
void WriteSummaries(const std::string& path, const json& plan,
                    const std::vector<Record>& summaries) {
  SweepStore store = SweepStore::Create(path, plan.dump(), ExampleProvenance());
  store.Append(0, ExampleSample(0));
  store.Finish(summaries);
}

json Plan(const std::string& task, const std::vector<std::string>& settings) {
  return {{"task", task}, {"seed", 1}, {"samples", 1}, {"places", {1}}, {"settings", settings}};
}

// A record outcome_means for one place with these numbers per setting.
Record Means(const std::vector<std::string>& settings, const std::string& measure,
             const Numbers& values, const Numbers& low = {}, const Numbers& high = {}) {
  const auto count = static_cast<int64_t>(settings.size());
  Record record;
  record.name = kOutcomeMeans;
  record.axes = {{"setting", count, "", settings, {}}, {"place", 1, "rank", {}, {1}}};
  const std::vector<std::string> cell = {"setting", "place"};
  record.arrays = {{"accuracy", cell, Numbers(settings.size(), 0.125), "", ""},
                   {kAnswerNll, cell, Numbers(settings.size(), 2.5), "nats", ""}};
  if (measure == kSettingSeconds) {
    record.arrays.push_back({measure, {"setting"}, values, kSeconds, ""});
  } else {
    record.arrays.push_back({measure, cell, values, "", ""});
  }
  if (!low.empty()) record.arrays.push_back({measure + "_low", cell, low, "", ""});
  if (!high.empty()) record.arrays.push_back({measure + "_high", cell, high, "", ""});
  return record;
}

class ProgramPublished : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }
  json Compared(const std::string& table) const {
    const ProgramRun run = RunMidscope({"compare", File("run.h5"), "--published", table, "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    return json::parse(run.out)["published"][0];
  }
  std::string Text(const std::string& table, const std::string& model = "") const {
    std::vector<std::string> arguments = {"compare", File("run.h5"), "--published", table};
    if (!model.empty()) arguments.insert(arguments.end(), {"--published-model", model});
    const ProgramRun run = RunMidscope(arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.out;
  }
  // The number compared with a row's column; null if there is none.
  static json Number(const json& compared, const std::string& row, const std::string& column) {
    for (const json& number : compared["numbers"]) {
      if (number["label"] == row && number["column"] == column) return number;
    }
    return nullptr;
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramPublished, DifferencesByPlaceHaveIntervalsOfBothSides) {
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < 2; ++sample) {
    outcomes.push_back({sample, {1, 2, 3}, {1, 0, 1}});
  }
  json plan = Plan("mdqa:documents=10", {"pi(1.5)"});
  plan["places"] = {1, 5, 10};
  WriteSummaries(
      File("run.h5"), plan,
      {OutcomeMeansRecord({"pi(1.5)"}, {1, 5, 10}, SummariseOutcomes(outcomes, 1, 3, 1))});
  const json row = Compared("mspoe-t2-mdqa")["rows"][1];
  ASSERT_EQ(row["label"], "PI");
  const json differences = row["yours"][0]["differences"];
  ASSERT_EQ(differences.size(), 5U);
  // 2 of 2 compared with 65.2 % of 500.
  EXPECT_NEAR(differences[0]["value"], 0.348, 1e-12);
  EXPECT_NEAR(differences[0]["low"], -0.3108626133253318, 1e-9);
  EXPECT_NEAR(differences[0]["high"], 0.39076749744336436, 1e-9);
  EXPECT_EQ(differences[0]["interval_of"], "both");
  EXPECT_TRUE(differences[1]["value"].is_null()) << "place 3 was not run";
  // 0 of 2 compared with 60.0 % of 500.
  EXPECT_NEAR(differences[2]["value"], -0.6, 1e-12);
  EXPECT_NEAR(differences[2]["low"], -0.6420210092052625, 1e-9);
  EXPECT_NEAR(differences[2]["high"], 0.05905994310367302, 1e-9);
  EXPECT_THAT(Text("mspoe-t2-mdqa"), HasSubstr("+34.8 [-31.1, 39.1]"));
}

TEST_F(ProgramPublished, GroupsOfLongBenchAreMeansOfTheirDataSets) {
  const std::vector<std::string> settings = {"none"};
  Record groups;
  groups.name = kGroupMeans;
  const std::vector<std::string> names = {"multi-document QA",
                                          "multi-document QA/2wikimqa",
                                          "multi-document QA/hotpotqa",
                                          "multi-document QA/musique",
                                          "code",
                                          "code/lcc"};
  groups.axes = {{"group", 6, "", names, {}}, {"setting", 1, "", settings, {}}};
  groups.arrays = {
      {"generation_score", {"group", "setting"}, Numbers{0.9, 0.1, 0.2, 0.3, 0.4, 0.4}, "", ""}};
  WriteSummaries(File("run.h5"), Plan("longbench:file=sets", settings),
                 {Means(settings, "generation_score", {0.25}), groups});
  const json compared = Compared("poshidden-t2");
  const json multi = Number(compared, "LLaMA-2-7b-chat", "MultiDoc");
  EXPECT_NEAR(multi["yours"], 20.0, 1e-9);
  EXPECT_NEAR(multi["difference"]["value"], 20.0 - 29.7, 1e-9);
  EXPECT_TRUE(multi["difference"]["low"].is_null());
  EXPECT_TRUE(Number(compared, "LLaMA-2-7b-chat", "Code").is_null()) << "repobench-p is missing";
  EXPECT_TRUE(Number(compared, "LLaMA-2-7b-chat w/ Ours", "MultiDoc").is_null());
  EXPECT_TRUE(Number(compared, "LLaMA-2-7b-chat", "avg_reported").is_null());
  const std::string all = Text("poshidden-t2");
  EXPECT_THAT(all, HasSubstr("published numbers of 8 models without counterpart"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("the run lacks")));
  const std::string text = Text("poshidden-t2", "LLaMA-2-7b-chat");
  EXPECT_THAT(text, HasSubstr("numbers of 7 other models: --published-model"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("Gemma")));
  const ProgramRun unknown = RunMidscope(
      {"compare", File("run.h5"), "--published", "poshidden-t2", "--published-model", "Lama"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("LLaMA-2-7b-chat"));
  EXPECT_THAT(text, HasSubstr("LLaMA-2-7b-chat, Code: the run lacks repobench-p"));
  EXPECT_THAT(text, HasSubstr("yours has no setting of this method (channel(2393"));
  // Single subtasks are compared too, with the row's mark if it has one.
  EXPECT_NEAR(Number(Compared("cream-t7"), "Llama2-7B-chat-4k", "HPQA")["difference"]["value"],
              20.0 - 25.4, 1e-9);
}

TEST_F(ProgramPublished, AnAverageStandsWhereAllItsPartsDo) {
  const std::vector<std::string> sets = {"narrativeqa", "qasper",  "multifieldqa_en", "hotpotqa",
                                         "2wikimqa",    "musique", "gov_report",      "qmsum",
                                         "multi_news",  "trec",    "triviaqa",        "samsum"};
  const std::vector<std::string> settings = {"none"};
  Record groups;
  groups.name = kGroupMeans;
  groups.axes = {{"group", 12, "", sets, {}}, {"setting", 1, "", settings, {}}};
  Numbers scores;
  for (size_t i = 0; i < sets.size(); ++i) scores.push_back(0.01 * static_cast<double>(i));
  groups.arrays = {{"generation_score", {"group", "setting"}, scores, "", ""}};
  json plan = Plan("longbench:file=sets", settings);
  plan["recipe"] = {{"method", "full"}, {"interpolation", "yarn"}};
  WriteSummaries(File("run.h5"), plan, {Means(settings, "generation_score", {0.25}), groups});
  const json average = Number(Compared("cream-t6"), "Yarn", "avg");
  EXPECT_NEAR(average["yours"], 5.5, 1e-9);
  EXPECT_NEAR(average["difference"]["value"], 5.5 - 35.7, 1e-9);
}

TEST_F(ProgramPublished, PerplexityHasTheRunsIntervalAlone) {
  const std::vector<std::string> settings = {"none"};
  json plan = Plan("text:tokens=8192,stride=1024,file=proofs.txt", settings);
  WriteSummaries(File("run.h5"), plan, {Means(settings, "perplexity", {5.0}, {4.5}, {6.0})});
  const std::string untuned = Text("cream-t3", "PoSE-Linear");
  EXPECT_THAT(untuned, HasSubstr("PoSE-Linear, proof_8k: its model is pose, interpolation=linear, "
                                 "yours no tuning"));
  EXPECT_TRUE(Compared("cream-t3")["numbers"].empty())
      << "Original has no number at this length, all others are tuned";
  plan["recipe"] = {{"method", "cream"}, {"interpolation", "ntk"}};
  std::filesystem::remove(File("run.h5"));
  WriteSummaries(File("run.h5"), plan, {Means(settings, "perplexity", {5.0}, {4.5}, {6.0})});
  const json compared = Compared("cream-t3");
  EXPECT_EQ(compared["numbers"].size(), 2U) << "GovReport and Proof-pile; the text is the user's";
  const json proof = Number(compared, "CREAM-NTK", "proof_8k");
  EXPECT_NEAR(proof["difference"]["value"], 0.4, 1e-9);
  EXPECT_NEAR(proof["difference"]["low"], -0.1, 1e-9);
  EXPECT_NEAR(proof["difference"]["high"], 1.4, 1e-9);
  EXPECT_EQ(proof["difference"]["interval_of"], "yours");
  EXPECT_THAT(Text("cream-t3"), HasSubstr("tuned: cream, interpolation=ntk"));
}

// The mean over documents is what the table has; the setting is the interpolation of the recipe.
TEST_F(ProgramPublished, PerplexityOfDocumentsIsTheirMean) {
  const std::vector<std::string> settings = {
      PrintIntervention(ParseIntervention("yarn(8, context=4096, form=cream)"))};
  json plan = Plan("text:tokens=4096,stride=2048,field=report,file=gov.jsonl", settings);
  plan["recipe"] = {{"method", "cream"}, {"interpolation", "yarn"}, {"context", "32768"}};
  Record means = Means(settings, "perplexity", {5.0});
  means.arrays.push_back({"document_perplexity", {"setting", "place"}, Numbers{4.0}, "", ""});
  WriteSummaries(File("run.h5"), plan, {means});
  const json gov = Number(Compared("cream-t3"), "CREAM-YaRN", "gov_4k");
  ASSERT_FALSE(gov.is_null());
  EXPECT_NEAR(gov["yours"], 4.0, 1e-12);
  EXPECT_EQ(gov["match"], "same");
}

TEST_F(ProgramPublished, ZeroScrollsHasItsAverage) {
  const std::vector<std::string> sets = {"gov_report", "summ_screen_fd", "qmsum",        "squality",
                                         "qasper",     "narrative_qa",   "book_sum_sort"};
  const std::vector<std::string> settings = {"none"};
  Record groups;
  groups.name = kGroupMeans;
  std::vector<std::string> names;
  Numbers scores;
  for (const std::string& set : sets) {
    names.push_back("ZeroSCROLLS/" + set);
    scores.push_back(0.01 * static_cast<double>(names.size()));
  }
  groups.axes = {{"group", 7, "", names, {}}, {"setting", 1, "", settings, {}}};
  groups.arrays = {{"generation_score", {"group", "setting"}, scores, "", ""}};
  WriteSummaries(File("run.h5"), Plan("zeroscrolls:file=sets", settings),
                 {Means(settings, "generation_score", {0.25}), groups});
  const json compared = Compared("mspoe-t1");
  EXPECT_NEAR(Number(compared, "Vicuna-7B / Baseline", "QMSum")["yours"], 3.0, 1e-9);
  EXPECT_NEAR(Number(compared, "Vicuna-7B / Baseline", "avg")["yours"], 4.0, 1e-9);
}

// A run of one data set is compared with that set alone.
TEST_F(ProgramPublished, OneSetIsComparedWithItsColumn) {
  const std::vector<std::string> settings = {"none"};
  Record statistics;
  statistics.name = kSettingStatistics;
  statistics.axes = {{"setting", 1, "", settings, {}}};
  statistics.arrays = {{"generation_score_mean", {"setting"}, Numbers{0.5}, "", ""}};
  WriteSummaries(File("run.h5"), Plan("zeroscrolls:dataset=qmsum,file=x.jsonl", settings),
                 {Means(settings, "generation_score", {0.5}), statistics});
  const json compared = Compared("mspoe-t1");
  EXPECT_EQ(compared["numbers"].size(), 6U);
  EXPECT_NEAR(Number(compared, "Vicuna-7B / Baseline", "QMSum")["yours"], 50.0, 1e-9);
  EXPECT_EQ(compared["published_without_counterpart"].size(), 6U) << "the rows of Ms-PoE";
}

TEST_F(ProgramPublished, SecondsAreRelative) {
  const std::vector<std::string> settings = {"none",
                                             "channel(2393, factor=-1, layers=10-25, rows=answer)"};
  WriteSummaries(File("run.h5"), Plan("kv:pairs=140", settings),
                 {Means(settings, kSettingSeconds, {2.0, 3.0})});
  const json compared = Compared("poshidden-t6");
  const json scaled = Number(compared, "scaled channel", "kv_500x10k");
  EXPECT_NEAR(scaled["yours"], 1.5, 1e-9);
  EXPECT_NEAR(scaled["published"], 32.0 / 22, 1e-9);
  EXPECT_TRUE(Number(compared, "FlashAttention-2", "kv_500x10k").is_null());
  EXPECT_THAT(Text("poshidden-t6"),
              HasSubstr("Ms-PoE, kv_500x10k: yours has no setting of this method (ms-poe)"));
}

TEST_F(ProgramPublished, SettingsOfAnAblationAreByModel) {
  const std::vector<std::string> settings = {"none",
                                             "channel(213, factor=0, layers=10-25, rows=all)"};
  json plan = Plan("mdqa:documents=20", settings);
  plan["places"] = {1};
  Record statistics;
  statistics.name = kSettingStatistics;
  statistics.axes = {{"setting", 2, "", settings, {}}};
  statistics.arrays = {{"generation_score_mean", {"setting"}, Numbers{0.5, 0.625}, "", ""}};
  WriteSummaries(File("run.h5"), plan,
                 {Means(settings, "generation_score", {0.5, 0.625}), statistics});
  // One place cannot be compared with the five of the table.
  const json compared = Compared("poshidden-t3");
  EXPECT_TRUE(compared["numbers"].empty());
  EXPECT_THAT(compared["published_without_counterpart"].dump(),
              HasSubstr("w/ modify all tokens, mistral_7b: the run lacks place 5"));
  EXPECT_THAT(
      compared["published_without_counterpart"].dump(),
      HasSubstr(
          "w/ modify all tokens, gemma_7b: yours has no setting of this method (channel(1665"));
}

// Writes the recipe to the folder of a tiny model; the sweep's file states it.
TEST_F(ProgramPublished, ASweepKeepsTheRecipeOfItsModelsFolder) {
  std::filesystem::copy(test::TinyModelFolder("llama"), File("model"),
                        std::filesystem::copy_options::recursive);
  std::ofstream(File("model") + "/" + kRecipeFile)
      << R"({"method": "CREAM", "interpolation": "linear", "context": 32768})";
  WriteBytes(File("mine.jsonl"), R"({"question": "Who?", "answers": ["Ann"]})");
  const ProgramRun run =
      RunMidscope({"sweep", File("model"), "--task", File("mine.jsonl"), "--places", "1",
                   "--samples", "1", "--score", "likelihood", "--out", File("run.h5")});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Compared("cream-t1")["recipe"],
            json({{"method", "cream"}, {"interpolation", "linear"}, {"context", "32768"}}));
  std::ofstream(File("model") + "/" + kRecipeFile) << "{";
  const ProgramRun refused =
      RunMidscope({"sweep", File("model"), "--task", File("mine.jsonl"), "--places", "1",
                   "--samples", "1", "--score", "likelihood", "--out", File("other.h5")});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr(kRecipeFile));
}

}  // namespace
}  // namespace midscope

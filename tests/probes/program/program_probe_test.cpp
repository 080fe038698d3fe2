// SPDX-License-Identifier: MIT
// `midscope probe` with chosen probes, with several prompts, and its list of probes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/store/record_reader.h"
#include "probes/measure/builtin/probe_registry.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const Record* Find(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

TEST(ProbeProgram, ListsWhatEachProbeMeasuresWithoutAModel) {
  const ProgramRun list = RunMidscope({"probe", "--list"});
  ASSERT_EQ(list.status, 0) << list.err;
  const std::string help = RunMidscope({"probe", "--help"}).out;
  EXPECT_THAT(RunMidscope({"help", "probes"}).out, HasSubstr(list.out));
  const ProbeRegistry probes = BuiltInProbes();
  for (const ProbeType& type : probes.types()) {
    EXPECT_THAT(list.out, HasSubstr("  " + type.name + " "));
    EXPECT_THAT(help, HasSubstr("  " + type.name + " "));
    for (const Parameter& option : type.options) {
      EXPECT_THAT(list.out, HasSubstr("--" + option.name));
      EXPECT_THAT(help, HasSubstr("--" + option.name));
    }
  }
  EXPECT_THAT(list.out, HasSubstr("public code:"));
  EXPECT_THAT(list.out, HasSubstr("2404.15574"));
}

TEST(ProbeProgram, SeveralPlacesAndSamplesGiveLeadingAxes) {
  const TemporaryFolder folder;
  const std::string file = folder.File("places.h5");
  const std::string probes =
      "span_attention,key_information,head_scores,logit_lens,retrieval_heads,"
      "answer_attribution,rope_bands,attention_rollout,qr_heads,key_drift,position_direction";
  const ProgramRun run =
      RunMidscope({"probe", "embedded", "--task", "list:lines=5", "--places", "1,5", "--samples",
                   "2", "--probes", probes, "--out", file, "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 samples at 2 places: 4 runs"));
  const RunFile stored = ReadRecords(file);
  const json printed = json::parse(run.out);
  for (const char* name : {"span_attention",
                           "gold_following",
                           "key_information",
                           "key_information_map",
                           "head_scores",
                           "head_score_stability",
                           "logit_lens",
                           "logit_lens_by_place",
                           "retrieval_heads",
                           "retrieval_heads_mean",
                           "answer_attribution",
                           "answer_attribution_by_place",
                           "rope_bands",
                           "rope_bands_by_place",
                           "attention_rollout_by_place",
                           "qr_heads_mean",
                           "key_drift_mean",
                           "position_direction_mean",
                           "answer",
                           "prompt"}) {
    EXPECT_NE(Find(stored.records, name), nullptr) << name;
  }
  const Array* gold = Find(stored.records, "span_attention")->FindArray("gold_attention");
  EXPECT_EQ(gold->axes, (std::vector<std::string>{"sample", "place", "layer", "head"}));
  for (const json& record : printed["records"]) {
    if (record["name"] != "span_attention") continue;
    for (const json& array : record["arrays"]) {
      if (array["name"] != "gold_attention") continue;
      EXPECT_EQ(array["shape"], (json{2, 2, 30, 9}));
      EXPECT_NEAR(array["data"][1][0][29][8].get<double>(),
                  std::get<std::vector<double>>(gold->data)[2 * 270 + 269], 1e-12);
    }
  }
}

TEST(ProbeProgram, RefusesSeveralPlacesOfAText) {
  const ProgramRun text = RunMidscope({"probe", "embedded", "--prompt", "a", "--places", "1,2"});
  EXPECT_EQ(text.status, 2);
  EXPECT_THAT(text.err, HasSubstr("--places"));
  const ProgramRun both = RunMidscope(
      {"probe", "embedded", "--task", "list:lines=5", "--places", "1,2", "--place", "1"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--place"));
  const ProgramRun share =
      RunMidscope({"probe", "embedded", "--task", "list:lines=5", "--place", "120%"});
  EXPECT_EQ(share.status, 2);
  EXPECT_THAT(share.err, HasSubstr("'120%'"));
  const ProgramRun name =
      RunMidscope({"probe", "embedded", "--prompt", "a", "--probes", "span_atention"});
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.err, HasSubstr("'span_attention'"));
}

TEST(ProbeProgram, PrintsTheRecordsThatWereNamedAndNothingNewUnasked) {
  const ProgramRun lens = RunMidscope({"probe", "embedded", "--prompt", "The capital of France is",
                                       "--answer", " Paris", "--probes", "logit_lens"});
  ASSERT_EQ(lens.status, 0) << lens.err;
  EXPECT_THAT(lens.out, HasSubstr("answer_log_probability"));
  EXPECT_THAT(lens.out, Not(HasSubstr("rank  id")));
  const ProgramRun plain =
      RunMidscope({"probe", "embedded", "--prompt", "The capital of France is"});
  EXPECT_EQ(plain.out.rfind("rank", 0), 0u) << plain.out;
  EXPECT_THAT(plain.err,
              HasSubstr("prompt: 5 tokens, no begin-of-text: The capital of France is\n"));
  EXPECT_THAT(plain.out, Not(HasSubstr("record")));
}

TEST(ProbeProgram, PerplexityAloneDoesNotAskForAPromptThatFits) {
  const TemporaryFolder folder;
  const std::string file = folder.File("long.txt");
  std::ofstream out(file);
  for (int i = 0; i < 9000; ++i) out << " a";
  out.close();
  const std::vector<std::string> arguments = {"probe",    "embedded", "--prompt-file", file,
                                              "--window", "8200",     "--probes"};
  std::vector<std::string> alone = arguments;
  alone.emplace_back("perplexity");
  const ProgramRun run = RunMidscope(alone);
  EXPECT_EQ(run.status, 2);  // the window is invalid, not the text
  EXPECT_THAT(run.err, HasSubstr("--window"));
  std::vector<std::string> shared = arguments;
  shared.emplace_back("perplexity,next_tokens");
  EXPECT_THAT(RunMidscope(shared).err, HasSubstr("9000"));
}

}  // namespace
}  // namespace midscope

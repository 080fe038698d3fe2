// SPDX-License-Identifier: MIT
// Prompts longer than the context, as a user encounters them: in one setting of a sweep, with
// --beyond-context, and in perplexity's windows. The tiny models are trained on 128 tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFarModel = MIDSCOPE_TESTS
    "/core/golden/tiny_models"
    "/llama";
constexpr const char* kFar = "self-extend(group=4, window=16)";

// A text of a few hundred tokens.
std::string LongText(const TemporaryFolder& folder) {
  std::string file = folder.File("long.txt");
  std::ofstream out(file);
  for (int i = 0; i < 30; ++i) out << "The capital of France is Paris, number " << i << ". ";
  return file;
}

TEST(ProgramContext, ASettingOfASweepThatIsTooShortFailsAloneAndSaysSo) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const std::string task = folder.File("mine.jsonl");
  {
    std::ofstream lines(task);
    for (const int repeats : {1, 12, 1, 2}) {
      std::string text;
      for (int i = 0; i < repeats; ++i) text += "The capital of France is Paris. ";
      lines << json{{"context", {text, "Rome."}},
                    {"gold", 1},
                    {"gold_from", 1},
                    {"question", "What?"},
                    {"answers", {"Paris"}}}
            << "\n";
    }
  }
  const Arguments sweep = {"sweep",     kFarModel, "--task",  "jsonl:file=" + task,
                           "--places",  "1,2",     "--score", "likelihood",
                           "--samples", "4",       "--with",  "none",
                           "--with",    kFar,      "--out",   file};
  const ProgramRun run = RunMidscope(sweep);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("sample 1: none is not run: prompt too long"));
  EXPECT_THAT(run.out, AllOf(HasSubstr(" 3 of 4 "), HasSubstr("1 sample could not be run under"),
                             HasSubstr("the model's context holds 128")));
  const RunReader reader(file);
  const auto nll = std::get<std::vector<double>>(reader.ReadArray("sweep", "answer_nll").data);
  EXPECT_TRUE(std::isnan(nll[4]));   // sample 1, none
  EXPECT_FALSE(std::isnan(nll[6]));  // sample 1, the other
  const ProgramRun again = RunMidscope(With(sweep, {"--resume", "--json"}));
  ASSERT_EQ(again.status, 0) << again.err;
  const json all = json::parse(again.out);
  EXPECT_EQ(all["rows"][0]["samples"], 3);
  EXPECT_EQ(all["rows"][0]["not_run_samples"], 1);
  EXPECT_EQ(all["rows"][2]["samples"], 4);
  EXPECT_EQ(all["sweeps"][0]["comparisons"][0]["samples"], 3);
  EXPECT_EQ(all["sweeps"][0]["partly_failed_samples"], 1);
  // A plan that allows such prompts is another plan, and its file is marked.
  EXPECT_NE(RunMidscope(With(sweep, {"--resume", "--beyond-context"})).status, 0);
  Arguments marked = sweep;
  marked.back() = folder.File("beyond.h5");
  const ProgramRun beyond = RunMidscope(With(marked, {"--beyond-context"}));
  ASSERT_EQ(beyond.status, 0) << beyond.err;
  EXPECT_THAT(beyond.out, AllOf(HasSubstr("\nnone * "), HasSubstr("* prompts beyond the model's"),
                                Not(HasSubstr("window=16) *"))));
  const RunReader there(marked.back());
  EXPECT_EQ(json::parse(there.plan_json())["beyond_context"], true);
  EXPECT_EQ(std::get<std::vector<int64_t>>(there.ReadArray("outcome_means", "beyond_context").data),
            (std::vector<int64_t>{1, 0}));
}

TEST(ProgramContext, PerplexityTakesWindowsThatTheSettingHolds) {
  const TemporaryFolder folder;
  const Arguments probe = {"probe",    kFarModel,    "--prompt-file", LongText(folder),
                           "--probes", "perplexity", "--window",      "200",
                           "--stride", "100",        "--json"};
  const ProgramRun none = RunMidscope(probe);
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("200 tokens"), HasSubstr("context holds 128"),
                              HasSubstr("--beyond-context")));
  const ProgramRun far = RunMidscope(With(probe, {"--with", kFar}));
  ASSERT_EQ(far.status, 0) << far.err;
  EXPECT_THAT(far.err, Not(HasSubstr("beyond the context")));
  const ProgramRun pi = RunMidscope(With(probe, {"--with", "pi(1.5)"}));
  EXPECT_THAT(pi.err, HasSubstr("holds 192 under this position scheme"));
  const ProgramRun beyond = RunMidscope(With(probe, {"--beyond-context"}));
  ASSERT_EQ(beyond.status, 0) << beyond.err;
  EXPECT_THAT(beyond.err, HasSubstr("200 tokens are beyond the context"));
  const json record = json::parse(beyond.out)["records"][0];
  EXPECT_EQ(record["attributes"]["beyond_context"], 1);
}

TEST(ProgramContext, ProbeRunsThereOnRequestAndMarksIt) {
  const TemporaryFolder folder;
  const Arguments probe = {"probe",          kFarModel,  "--prompt-file",
                           LongText(folder), "--answer", " Paris"};
  const ProgramRun refused = RunMidscope(probe);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--beyond-context"));
  const std::string file = folder.File("probe.h5");
  const ProgramRun run = RunMidscope(With(probe, {"--beyond-context", "--out", file}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("beyond the context: "));
  EXPECT_THAT(run.err, HasSubstr("beyond the context: the model's context holds 128"));
  const RunReader reader(file);
  EXPECT_EQ(std::get<int64_t>(reader.Describe("answer").attributes.at("beyond_context")), 1);
  const ProgramRun within =
      RunMidscope({"probe", kFarModel, "--prompt", "The capital", "--beyond-context"});
  EXPECT_THAT(within.out, Not(HasSubstr("*")));
}

TEST(ProgramContext, WhatIfAndGenerateDoToo) {
  const TemporaryFolder folder;
  const std::string settings = folder.File("settings.txt");
  std::ofstream(settings) << "none\n" << kFar << "\n";
  const ProgramRun run =
      RunMidscope({"whatif", kFarModel, "--prompt-file", LongText(folder), "--beyond-context"},
                  {.standard_input = settings});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("none *\n"), HasSubstr("  * beyond the context: ")));
  EXPECT_THAT(run.out, Not(HasSubstr("window=16) *")));
  const Arguments generate = {"generate",     kFarModel, "--prompt-file", LongText(folder),
                              "--new-tokens", "3",       "--json"};
  EXPECT_EQ(RunMidscope(generate).status, 2);
  const ProgramRun beyond = RunMidscope(With(generate, {"--beyond-context"}));
  ASSERT_EQ(beyond.status, 0) << beyond.err;
  EXPECT_EQ(json::parse(beyond.out)["beyond_context"], true);
  EXPECT_THAT(beyond.err, HasSubstr("beyond the context"));
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Prompts beyond the context, as a user meets them: one setting of a sweep, --beyond-context,
// perplexity's windows. The tiny models are trained on 128 tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/record_reader.h"
#include "tests/probes/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramRun;
using testing::RunMidscope;
using testing::TemporaryFolder;

constexpr const char* kModel = MIDSCOPE_TINY_MODELS "/llama";
constexpr const char* kFar = "self-extend(group=4, window=16)";

using Arguments = std::vector<std::string>;

Arguments With(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

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
  const Arguments sweep = {
      "sweep",     kModel, "--task", "text:tokens=100,file=" + LongText(folder),
      "--samples", "2",    "--with", "none",
      "--with",    kFar,   "--out",  file};
  ProgramRun run = RunMidscope(sweep);
  if (run.status != 0) GTEST_FAIL() << run.err;
}

TEST(ProgramContext, PerplexityTakesWindowsThatTheSettingHolds) {
  const TemporaryFolder folder;
  const Arguments probe = {"probe",    kModel,       "--prompt-file", LongText(folder),
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
  const Arguments probe = {"probe",          kModel,     "--prompt-file",
                           LongText(folder), "--answer", " Paris"};
  const ProgramRun refused = RunMidscope(probe);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--beyond-context"));
  const std::string file = folder.File("probe.h5");
  const ProgramRun run = RunMidscope(With(probe, {"--beyond-context", "--out", file}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("tokens *"), HasSubstr("* beyond the context: ")));
  EXPECT_THAT(run.err, HasSubstr("beyond the context: the model's context holds 128"));
  const RunReader reader(file);
  EXPECT_EQ(std::get<int64_t>(reader.Describe("answer").attributes.at("beyond_context")), 1);
  const ProgramRun within =
      RunMidscope({"probe", kModel, "--prompt", "The capital", "--beyond-context"});
  EXPECT_THAT(within.out, Not(HasSubstr("*")));
}

TEST(ProgramContext, WhatIfAndGenerateDoToo) {
  const TemporaryFolder folder;
  const std::string settings = folder.File("settings.txt");
  std::ofstream(settings) << "none\n" << kFar << "\n";
  const ProgramRun run = RunMidscope(
      {"whatif", kModel, "--prompt-file", LongText(folder), "--beyond-context"}, {0, settings});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("none *\n"), HasSubstr("  * beyond the context: ")));
  EXPECT_THAT(run.out, Not(HasSubstr("window=16) *")));
  const Arguments generate = {"generate",     kModel, "--prompt-file", LongText(folder),
                              "--new-tokens", "3",    "--json"};
  EXPECT_EQ(RunMidscope(generate).status, 2);
  const ProgramRun beyond = RunMidscope(With(generate, {"--beyond-context"}));
  ASSERT_EQ(beyond.status, 0) << beyond.err;
  EXPECT_EQ(json::parse(beyond.out)["beyond_context"], true);
  EXPECT_THAT(beyond.err, HasSubstr("beyond the context"));
}

}  // namespace
}  // namespace midscope

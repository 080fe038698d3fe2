// SPDX-License-Identifier: MIT
// `midscope rope` and `midscope channels` as a user runs them: stable JSON names, files, Ctrl-C and
// --resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/store/record_reader.h"
#include "tests/probes/support/interrupted_program.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using testing::ExpectInterrupted;
using ::testing::HasSubstr;

TEST(ProgramRope, JsonHasTheFixedNames) {
  const ProgramRun run =
      RunMidscope({"rope", "--dim", "128", "--base", "10000", "--context", "4096", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result["pairs"], 64);
  EXPECT_EQ(result["first_pair_over_context"], 46);
  EXPECT_EQ(result["dimensions_within_context"], 92);
  ASSERT_EQ(result["periods"].size(), 64u);
  EXPECT_NEAR(result["periods"][46].get<double>(), 4711.7, 0.05);
  const ProgramRun all = RunMidscope({"rope", "--base", "500", "--json"});
  EXPECT_TRUE(json::parse(all.out)["first_pair_over_context"].is_null());
  EXPECT_EQ(json::parse(all.out)["dimensions_within_context"], 128);
}

TEST(ProgramRope, TextFileAndRefusals) {
  const TemporaryFolder folder;
  const ProgramRun run = RunMidscope(
      {"rope", "--factor", "8", "--new-base", "500000", "--out", folder.File("rope.h5")});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("82684.62264"));
  EXPECT_THAT(run.out, HasSubstr("yarn's ramp goes from pair 20 to pair 46"));
  const RunReader reader(folder.File("rope.h5"));
  EXPECT_EQ(
      std::get<std::vector<int64_t>>(reader.ReadArray("rope", "dimensions_within_context").data)[0],
      92);
  const ProgramRun odd = RunMidscope({"rope", "--dim", "127"});
  EXPECT_EQ(odd.status, 2);
  EXPECT_THAT(odd.err, HasSubstr("even"));
}

std::vector<std::string> Channels(const std::string& file, const std::string& examples = "1") {
  return {"channels",  "embedded", "--prompts",  "2",      "--tokens", "400",
          "--top",     "2",        "--examples", examples, "--places", "20",
          "--factors", "-1",       "--control",  "--json", "--out",    file};
}

TEST(ProgramChannels, JsonHasTheFixedNamesAndTheFileTheSameNumbers) {
  const TemporaryFolder folder;
  const std::string file = folder.File("channels.h5");
  const ProgramRun run = RunMidscope(Channels(file));
  ASSERT_EQ(run.status, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result["layers_examined"], 27);
  EXPECT_EQ(result["layer_threshold"], 7);
  ASSERT_GT(result["channels"].size(), 2u);
  EXPECT_EQ(result["channels"][0]["channel"], 100);
  EXPECT_EQ(result["channels"][0]["trend"], "rising");
  double before = 0;
  for (const json& channel : result["channels"]) {
    EXPECT_GT(channel["monotone_layers"], 7);
    EXPECT_GE(channel["smoothness"].get<double>(), before);
    before = channel["smoothness"];
  }
  EXPECT_EQ(result["validation"]["trials"].size(), 2u + 2);
  EXPECT_EQ(result["validation"]["task"], "list:lines=20");
  EXPECT_THAT(run.err, HasSubstr("after 1 of 2 prompts: channel 100 leads, rising in "));
  EXPECT_THAT(run.err, HasSubstr("ranking, before validation:")) << "for who interrupts here";
  const RunReader reader(file);
  const auto loss =
      std::get<std::vector<double>>(reader.ReadArray("channel_validation", "loss").data);
  EXPECT_EQ(result["validation"]["none_loss"].get<double>(), loss[0]);
  EXPECT_EQ(result["validation"]["trials"][3]["loss"].get<double>(), loss[4]);
  for (const char* left : {".search", ".validation", ".validation.journal"}) {
    EXPECT_FALSE(std::filesystem::exists(file + left)) << left;
  }

  // A finished file is rejected, or, with --resume, printed again; another plan is rejected.
  EXPECT_EQ(RunMidscope(Channels(file)).status, 2);
  std::vector<std::string> again = Channels(file);
  again.emplace_back("--resume");
  EXPECT_EQ(RunMidscope(again).out, run.out);
  std::vector<std::string> other = Channels(file, "2");
  other.emplace_back("--resume");
  const ProgramRun refused = RunMidscope(other);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("plan"));
}

TEST(ProgramChannels, CtrlCInTheValidationIsGoneOnWith) {
  const TemporaryFolder folder;
  const std::string file = folder.File("channels.h5");
  RunningProgram running(Channels(file, "6"));
  // The journal is created when the examples begin.
  ExpectInterrupted(running, file + ".validation.journal");
  const ProgramRun refused = RunMidscope(Channels(file, "6"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--resume"));
  std::vector<std::string> resume = Channels(file, "6");
  resume.emplace_back("--resume");
  const ProgramRun resumed = RunMidscope(resume);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  json whole = json::parse(RunMidscope(Channels(folder.File("whole.h5"), "6")).out);
  json gone_on = json::parse(resumed.out);
  whole.erase("file");
  gone_on.erase("file");
  EXPECT_EQ(gone_on, whole);
}

// The ablations of the paper's Table 3 and the search's numbers as options: each is in the JSON, in
// the file, and in the plan that --resume must repeat.
TEST(ProgramChannels, OptionsOfTheSearchAreInTheFile) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"channels", "embedded", "--prompts",      "1",
                                      "--tokens", "400",      "--top",          "4",
                                      "--json",   "--out",    folder.File(name)};
    words.insert(words.end(), more.begin(), more.end());
    return RunMidscope(words);
  };
  const ProgramRun made =
      run("a.h5", {"--ranking", "no-validation", "--threshold", "3", "--trend-skip", "50",
                   "--smoothness-skip", "60", "--smoothing", "0"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json result = json::parse(made.out);
  EXPECT_EQ(result["ranking"], "no-validation");
  EXPECT_EQ(result["layer_threshold"], 3);
  EXPECT_EQ(result["trend_skip"], 50);
  EXPECT_EQ(result["smoothness_skip"], 60);
  EXPECT_EQ(result["smoothing_window"], 0);
  EXPECT_TRUE(result["validation"].is_null());
  EXPECT_EQ(result["channels"].size(), 4u);
  const json plan = json::parse(RunReader(folder.File("a.h5")).plan_json());
  EXPECT_EQ(plan["ranking"], "no-validation");
  const ProgramRun other = run("a.h5", {"--resume", "--validate", "none"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("another plan"));
  EXPECT_EQ(run("b.h5", {"--ranking", "no-validation", "--validate", "list"}).status, 2);
  EXPECT_EQ(run("b.h5", {"--smoothing", "3", "--validate", "none"}).status, 2);
  const json all =
      json::parse(run("c.h5", {"--ranking", "no-monotonicity", "--validate", "none"}).out);
  EXPECT_EQ(all["channels"].size(), 576u);
}

// The validation's prompts use the chat template, and the file's plan states it.
TEST(ProgramChannels, ChatIsThatOfTheValidation) {
  const TemporaryFolder folder;
  const auto losses = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words = Channels(folder.File(name));
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun run = RunMidscope(words);
    EXPECT_EQ(run.status, 0) << run.err;
    return json::parse(run.out)["validation"]["none_loss"].get<double>();
  };
  const double plain = losses("plain.h5", {});
  const double chat = losses("chat.h5", {"--chat", "--system", "Answer in one word."});
  EXPECT_GT(std::abs(plain - chat), 0.01);
  EXPECT_FALSE(json::parse(RunReader(folder.File("plain.h5")).plan_json())["validation"].contains(
      "chat_template"));
  const json plan = json::parse(RunReader(folder.File("chat.h5")).plan_json())["validation"];
  EXPECT_EQ(plan["chat_template"], "model");
  EXPECT_EQ(plan["system"], "Answer in one word.");
}

TEST(ProgramChannels, RefusalsNameTheOption) {
  EXPECT_EQ(RunMidscope({"channels", "embedded", "--resume"}).status, 2);
  const ProgramRun tokens = RunMidscope({"channels", "embedded", "--tokens", "200"});
  EXPECT_EQ(tokens.status, 2);
  EXPECT_THAT(tokens.err, HasSubstr("--tokens"));
  const ProgramRun factors = RunMidscope({"channels", "embedded", "--factors", "0,x"});
  EXPECT_EQ(factors.status, 2);
  EXPECT_THAT(factors.err, HasSubstr("--factors"));
  const ProgramRun layers = RunMidscope({"channels", "embedded", "--layers", "8-40"});
  EXPECT_EQ(layers.status, 2);
  EXPECT_THAT(layers.err, HasSubstr("0-29"));
}

}  // namespace
}  // namespace midscope

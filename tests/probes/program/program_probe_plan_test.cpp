// SPDX-License-Identifier: MIT
// `midscope probe --plan`: batches of models, tasks, sizes and settings, interrupted and resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "data/store/record_reader.h"
#include "tests/core/support/tiny_models.h"
#include "tests/data/support/example_records.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

void WriteText(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

void ExpectSameRecords(const std::string& a, const std::string& b) {
  const RunFile one = ReadRecords(a);
  const RunFile two = ReadRecords(b);
  EXPECT_EQ(one.plan_json, two.plan_json);
  ASSERT_EQ(one.records.size(), two.records.size());
  for (size_t i = 0; i < one.records.size(); ++i) ExpectSameRecord(one.records[i], two.records[i]);
}

class ProbePlan : public ::testing::Test {
 protected:
  // A plan with two models, two tasks, three sizes and two settings.
  std::string Plan() const {
    WriteText(folder_.File("plan.json"),
              json{{"model", {"embedded", test::TinyModelFolder("llama")}},
                   {"task", {"lines:lines={size}", "kv:pairs={size}"}},
                   {"size", {2, 3, 4}},
                   {"with", {"none", "pi(1.5)"}},
                   {"places", "1,2"},
                   {"samples", 2},
                   {"beyond-context", true},
                   {"probes", "head_scores,span_attention,last_query_attention"}}
                  .dump());
    return folder_.File("plan.json");
  }
  std::vector<std::string> Command(const std::string& out) const {
    return {"probe", "--plan", Plan(), "--out", folder_.File(out), "--resume", "--json"};
  }
  TemporaryFolder folder_;
};

TEST_F(ProbePlan, KillsLoseNothing) {
  std::mt19937 random(7);
  int kills = 0;
  for (; kills < 3; ++kills) {
    RunningProgram running(Command("killed"));
    std::this_thread::sleep_for(std::chrono::milliseconds(900 + random() % 900));
    if (!running.Running()) break;
    running.Signal(SIGKILL);
    running.Wait();
  }
  EXPECT_GE(kills, 1);
  const ProgramRun resumed = RunWell(Command("killed"));
  RunWell(Command("whole"));
  const auto read = [&](const std::string& file) {
    std::ifstream stream(folder_.File(file));
    return json::parse(stream);
  };
  json killed = read("killed/summary.json");
  json whole = read("whole/summary.json");
  ASSERT_EQ(killed["batches"].size(), 24u);
  EXPECT_EQ(json::parse(resumed.out), killed);
  for (size_t i = 0; i < 24; ++i) {
    const std::string one = killed["batches"][i]["file"];
    const std::string two = whole["batches"][i]["file"];
    EXPECT_EQ(std::filesystem::path(one).filename(), std::filesystem::path(two).filename());
    ExpectSameRecords(one, two);
    EXPECT_FALSE(std::filesystem::exists(one + ".prompts"));
    killed["batches"][i].erase("file");
    whole["batches"][i].erase("file");
  }
  EXPECT_EQ(killed, whole);
  EXPECT_EQ(killed["batches"][1]["setting"], "pi(1.5)");
  EXPECT_EQ(killed["batches"][0]["answer_nll"].size(), 2u);
}

TEST_F(ProbePlan, OneBatchEqualsTheCommandWithoutAPlan) {
  WriteText(folder_.File("one.toml"),
            "model = \"embedded\"\ntask = \"list:lines=3\"\nplaces = \"1,3\"\nsamples = 2\n"
            "with = \"pi(1.5)\"\nprobes = \"head_scores\"\n");
  RunWell({"probe", "--plan", folder_.File("one.toml"), "--out", folder_.File("a.h5")});
  RunWell({"probe", "embedded", "--task", "list:lines=3", "--places", "1,3", "--samples", "2",
           "--with", "pi(1.5)", "--probes", "head_scores", "--out", folder_.File("b.h5")});
  ExpectSameRecords(folder_.File("a.h5"), folder_.File("b.h5"));
  EXPECT_THAT(RunWell({"ls", folder_.File("a.h5")}).out, HasSubstr("probes, 2 samples"));
}

TEST_F(ProbePlan, ADryRunTellsPromptsAndTime) {
  std::vector<std::string> command = Command("nothing");
  command.insert(command.end(), {"--dry-run", "--with", "none"});
  const ProgramRun run = RunWell(command);
  EXPECT_THAT(run.err, HasSubstr("running one prompt of each batch"));
  const json cost = json::parse(run.out);
  EXPECT_EQ(cost["batches"].size(), 12u);
  EXPECT_EQ(cost["prompts"], 12 * 4);
  EXPECT_GT(cost["seconds"].get<double>(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.File("nothing")));
}

TEST_F(ProbePlan, RefusesWhatItCannotContinue) {
  const auto command = [&](const std::string& samples, const std::vector<std::string>& more) {
    std::vector<std::string> line = {"probe", "embedded",  "--task", "list:lines=3", "--places",
                                     "1,3",   "--samples", samples,  "--probes",     "head_scores"};
    line.insert(line.end(), more.begin(), more.end());
    return RunMidscope(line);
  };
  const std::string file = folder_.File("batch.h5");
  ASSERT_EQ(command("1", {"--out", file}).status, 0);
  EXPECT_EQ(command("1", {"--out", file}).status, 2);
  const ProgramRun same = command("1", {"--out", file, "--resume"});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_THAT(same.err, HasSubstr("has all of it"));
  const ProgramRun other = command("1", {"--out", file, "--resume", "--seed", "2"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("seed is '1' there, but '2' is requested"));
  EXPECT_EQ(command("1", {"--resume"}).status, 2);
  EXPECT_EQ(RunMidscope({"probe", "embedded", "--prompt", "a", "--resume"}).status, 2);
  EXPECT_EQ(RunMidscope({"probe", "--prompt", "a"}).status, 2);
}

}  // namespace
}  // namespace midscope

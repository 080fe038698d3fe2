// SPDX-License-Identifier: MIT
// `midscope sweep` over several tasks and seeds, its dry run, samples added later, and killed
// sweeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "core/base/record_names.h"
#include "data/store/record_reader.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kPlan = R"toml(
model = "embedded"
task = ["list:lines={size}", "passkey:tokens=128"]
size = [4, 6]
samples = 2
with = ["none", "channel(100, factor=-1, layers=8-25)"]
score = "likelihood"
)toml";

std::string WritePlan(const TemporaryFolder& folder) {
  std::ofstream(folder.File("plan.toml")) << kPlan;
  return folder.File("plan.toml");
}

TEST(ProgramSweepPlan, EachCellHasAFileAndAllHaveOneTable) {
  const TemporaryFolder folder;
  const std::string out = folder.File("runs");
  const std::vector<std::string> command = {"sweep",  "--plan", WritePlan(folder),
                                            "--json", "--out",  out};
  const ProgramRun run = RunMidscope(command);
  ASSERT_EQ(run.status, 0) << run.err;
  const json result = json::parse(run.out);
  ASSERT_EQ(result["sweeps"].size(), 3u);
  EXPECT_EQ(result["sweeps"][1]["task"], "list:lines=6");
  EXPECT_EQ(result["rows"][0]["task"], "list:lines=4");
  for (const json& sweep : result["sweeps"]) {
    const RunReader reader(sweep["file"].get<std::string>());
    EXPECT_EQ(reader.Describe("sweep").FindAxis("sample")->size, 2);
    EXPECT_EQ(sweep["failed_samples"], 0);
  }
  std::ifstream summary(out + "/summary.json");
  EXPECT_EQ(json::parse(summary), result);
  EXPECT_EQ(RunMidscope(command).status, 2);
  std::vector<std::string> resumed = command;
  resumed.emplace_back("--resume");
  const ProgramRun again = RunMidscope(resumed);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out), result);
}

TEST(ProgramSweepPlan, ACellThatCannotBeRunLeavesTheTableOfTheOthers) {
  const TemporaryFolder folder;
  std::ofstream(folder.File("plan.toml"))
      << "model = ['" << folder.File("nowhere") << "', 'embedded']\n"
      << "task = 'list:lines=4'\nsamples = 2\nplaces = [1, 4]\nscore = 'likelihood'\n";
  const ProgramRun run = RunMidscope({"sweep", "--plan", folder.File("plan.toml")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("1 of 2 sweeps: they failed; the first: "));
  EXPECT_THAT(run.out, HasSubstr("answer_nll"));
}

TEST(ProgramSweepPlan, ADryRunPlansForRanksAndRunsNothing) {
  const TemporaryFolder folder;
  const std::string plan = WritePlan(folder);
  const ProgramRun run =
      RunMidscope({"sweep", "--plan", plan, "--samples", "1000", "--throughput", "1000",
                   "--dry-run", "--ranks", "64", "--json", "--out", folder.File("runs")});
  ASSERT_EQ(run.status, 0) << run.err;
  const json result = json::parse(run.out);
  ASSERT_EQ(result["cells"].size(), 3u);
  EXPECT_EQ(result["cells"][2]["runs"], 1000 * 5 * 2);
  EXPECT_DOUBLE_EQ(result["cells"][0]["seconds"].get<double>(),
                   result["cells"][0]["work_tokens"].get<double>() / 1000);
  EXPECT_EQ(result["schedules"][1]["ranks"], 64);
  EXPECT_LT(result["schedules"][1]["seconds"].get<double>(),
            result["schedules"][0]["seconds"].get<double>() / 30);
  EXPECT_FALSE(std::filesystem::exists(folder.File("runs")));
  const json& ranks = result["schedules"][1];
  EXPECT_EQ(ranks["most_samples"], 3 * 16) << "three cells of 1000 samples";
  EXPECT_EQ(ranks["fewest_samples"], 3 * 15);
  EXPECT_DOUBLE_EQ(ranks["rank_seconds"].get<double>(), 64 * ranks["seconds"].get<double>());
  EXPECT_DOUBLE_EQ(ranks["sample_seconds"].get<double>(),
                   result["schedules"][0]["sample_seconds"].get<double>());
  EXPECT_GT(result["trace_bytes"].get<int64_t>(), 0);
}

TEST(ProgramSweepPlan, ADryRunMeasuresAGeneratedToken) {
  const std::vector<std::string> command = {
      "sweep",      "embedded",  "--task", "mdqa:documents=3", "--score",
      "generation", "--samples", "10",     "--dry-run"};
  std::vector<std::string> as_json = command;
  as_json.emplace_back("--json");
  const json cell = json::parse(RunWell(as_json).out)["cells"][0];
  const double cost = cell["generated_token_cost"];
  EXPECT_GT(cost, 1);
  EXPECT_NE(cost, 15) << "the number that is assumed where nothing is measured";
  EXPECT_GE(cell["work_tokens"].get<double>(), cost * cell["generated_tokens"].get<double>());
  EXPECT_NEAR(cell["seconds"].get<double>(),
              cell["work_tokens"].get<double>() / cell["tokens_per_second"].get<double>(), 1e-9);
  std::vector<std::string> assumed = as_json;
  assumed.insert(assumed.end(), {"--throughput", "1000"});
  EXPECT_EQ(json::parse(RunWell(assumed).out)["cells"][0]["generated_token_cost"], 15);
  EXPECT_THAT(RunWell(command).out, HasSubstr(" ms = "));
}

// A model with 7B parameters processes some 2,000 prompt tokens per second on a node.
TEST(ProgramSweepPlan, ADryRunTellsACluster) {
  const std::vector<std::string> command = {
      "sweep",    "embedded", "--task",       "mdqa:documents=10",
      "--score",  "both",     "--samples",    "500",
      "--with",   "none",     "--with",       "channel(100, factor=-1)",
      "--with",   "pi(1.5)",  "--throughput", "2000",
      "--dry-run"};
  std::vector<std::string> for_ranks = command;
  for_ranks.insert(for_ranks.end(), {"--ranks", "64"});
  const ProgramRun run = RunMidscope(for_ranks);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("64 ranks: "));
  EXPECT_THAT(run.out, HasSubstr("7 to 8 samples per rank"));
  EXPECT_THAT(run.out, HasSubstr("memory of a process: about "));
  EXPECT_THAT(run.out, HasSubstr("advice: 63 ranks are done as soon as 64"));
  EXPECT_THAT(run.out, HasSubstr("--ntasks=63 --time=0"));
  const ProgramRun alone = RunMidscope(command);
  EXPECT_THAT(alone.out, ::testing::Not(HasSubstr("advice"))) << alone.out;
  // A sweep that cannot run is reported before advice about jobs is given.
  std::vector<std::string> too_long = command;
  too_long[3] = "kv:pairs=300";
  EXPECT_THAT(RunMidscope(too_long).out, HasSubstr("prompt too long"));
}

TEST(ProgramSweepPlan, MoreSamplesThanAFileHasAreRefusedWithTheCount) {
  const TemporaryFolder folder;
  std::ofstream(folder.File("own.jsonl"))
      << R"({"context": ["The cat is red.", "The dog is blue."], "gold": 0,)"
      << R"( "question": "What is red?", "answers": ["The cat"], "new_tokens": 4})"
      << "\n";
  const std::string task = "jsonl:file=" + folder.File("own.jsonl");
  const ProgramRun refused = RunMidscope({"sweep", "embedded", "--task", task, "--samples", "5"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("has 1"));
  // The default number is that of the file; its published metric is generation, so both parts run.
  const ProgramRun run = RunMidscope({"sweep", "embedded", "--task", task, "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json row = json::parse(run.out)["rows"][0];
  EXPECT_EQ(row["samples"], 1);
  EXPECT_TRUE(row.contains("generation_score"));
  EXPECT_TRUE(row["answer_nll"].is_number());
}

TEST(ProgramSweepPlan, SamplesCanBeAddedAndControlsAreNamed) {
  const TemporaryFolder folder;
  const auto command = [&](const std::string& samples) {
    return std::vector<std::string>{"sweep",     "embedded", "--task",    "list:lines=4",
                                    "--places",  "1,4",      "--samples", samples,
                                    "--with",    "none",     "--with",    "channel(100,factor=-1)",
                                    "--control", "--json",   "--out",     folder.File("run.h5"),
                                    "--resume"};
  };
  ASSERT_EQ(RunMidscope(command("2")).status, 0);
  const ProgramRun more = RunMidscope(command("4"));
  ASSERT_EQ(more.status, 0) << more.err;
  const json result = json::parse(more.out);
  EXPECT_EQ(result["rows"][0]["samples"], 4);
  EXPECT_EQ(result["rows"][4]["control_of"], "channel(100,factor=-1)");
  EXPECT_THAT(result["rows"][4]["setting"].get<std::string>(), HasSubstr("factor=-1"));
  EXPECT_GT(result["sweeps"][0]["comparisons"].size(), 0u);
  EXPECT_EQ(RunMidscope(command("3")).status, 1);
}

// A short form of kill_sweep.py.
TEST(ProgramSweepPlan, KillsLoseNothingButTheSampleInFlight) {
  const TemporaryFolder folder;
  const auto command = [&](const std::string& file) {
    return std::vector<std::string>{
        "sweep",  "embedded",  "--task", "list:lines=4",    "--places",
        "1,4",    "--samples", "10",     "--with",          "none",
        "--with", "pi(1.5)",   "--out",  folder.File(file), "--checkpoint",
        "1",      "--resume",  "--json", "--dtype",         "bfloat16"};
  };
  std::mt19937 random(4);
  int kills = 0;
  for (; kills < 4; ++kills) {
    RunningProgram running(command("killed.h5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(600 + random() % 900));
    if (!running.Running()) break;
    running.Signal(SIGKILL);
    running.Wait();
    if (std::filesystem::exists(folder.File("killed.h5"))) {
      EXPECT_GE(RunReader(folder.File("killed.h5")).Describe("sweep").FindAxis("sample")->size, 1);
    }
  }
  EXPECT_GE(kills, 1);
  const ProgramRun resumed = RunMidscope(command("killed.h5"));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  const json killed = json::parse(resumed.out);
  const json whole = json::parse(RunMidscope(command("whole.h5")).out);
  EXPECT_EQ(killed, whole);
  const RunReader one(folder.File("killed.h5"));
  const RunReader two(folder.File("whole.h5"));
  ASSERT_EQ(one.record_names(), two.record_names());
  for (const std::string& name : one.record_names()) {
    const Record a = one.Read(name);
    const Record b = two.Read(name);
    ASSERT_EQ(a.arrays.size(), b.arrays.size());
    for (size_t i = 0; i < a.arrays.size(); ++i) {
      if (a.arrays[i].unit == kSeconds) continue;
      EXPECT_EQ(a.arrays[i].data, b.arrays[i].data);
    }
  }
}

}  // namespace
}  // namespace midscope

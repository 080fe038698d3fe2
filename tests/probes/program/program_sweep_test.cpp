// SPDX-License-Identifier: MIT
// `midscope sweep` as a user runs it: its JSON, Ctrl-C, --resume, a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/store/record_reader.h"
#include "tests/probes/support/interrupted_program.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using testing::Arguments;
using testing::ExpectInterrupted;
using ::testing::HasSubstr;
using testing::ProgramRun;
using testing::RunMidscope;
using testing::RunningProgram;
using testing::TemporaryFolder;
using testing::With;

Arguments Sweep(const std::string& samples, const std::string& file) {
  return {"sweep",
          "embedded",
          "--task",
          "list:lines=6",
          "--places",
          "1,6",
          "--samples",
          samples,
          "--seed",
          "5",
          "--with",
          "none",
          "--with",
          "channel(100,factor=-1,layers=8-25)",
          "--checkpoint",
          "1",
          "--json",
          "--out",
          file};
}

TEST(ProgramSweep, JsonHasTheFixedNames) {
  const TemporaryFolder folder;
  const ProgramRun run = RunMidscope(Sweep("2", folder.File("run.h5")));
  ASSERT_EQ(run.status, 0) << run.err;
  const json rows = json::parse(run.out)["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2]["setting"], "channel(100,factor=-1,layers=8-25)");
  EXPECT_EQ(rows[2]["setting_canonical"], "channel(100, factor=-1, layers=8-25, rows=answer)");
  EXPECT_EQ(rows[3]["place"], 6);
  EXPECT_EQ(rows[3]["samples"], 2);
  for (const json& row : rows) {
    EXPECT_GE(row["accuracy"].get<double>(), 0);
    EXPECT_GT(row["answer_nll"].get<double>(), 0);
    EXPECT_LE(row["answer_nll_low"], row["answer_nll"]);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("run.h5.journal")));
  // The table on standard output, the file's means and its samples are the same numbers.
  const RunReader reader(folder.File("run.h5"));
  const auto nll =
      std::get<std::vector<double>>(reader.ReadArray("outcome_means", "answer_nll").data);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i]["answer_nll"].get<double>(), nll[i]);
}

TEST(ProgramSweep, RefusesAnExistingFileAndAnotherPlan) {
  const TemporaryFolder folder;
  const std::vector<std::string> sweep = Sweep("1", folder.File("run.h5"));
  ASSERT_EQ(RunMidscope(sweep).status, 0);
  const ProgramRun again = RunMidscope(sweep);
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("--resume"));
  const ProgramRun resumed = RunMidscope(With(sweep, {"--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  const ProgramRun other = RunMidscope(With(sweep, {"--attention", "--resume"}));
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr("plan"));
  EXPECT_EQ(RunMidscope({"sweep", "embedded", "--resume"}).status, 2);
}

TEST(ProgramSweep, CtrlCLeavesAFileThatOpensAndResumeCompletesIt) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  RunningProgram running(Sweep("12", file));
  // The first checkpoint is the sign that samples are being done.
  ExpectInterrupted(running, file);
  const int64_t finished = RunReader(file).Describe("sweep").FindAxis("sample")->size;
  EXPECT_GE(finished, 1);
  EXPECT_LT(finished, 12);

  const ProgramRun resumed = RunMidscope(With(Sweep("12", file), {"--resume"}));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  const std::string whole = folder.File("whole.h5");
  const ProgramRun at_once = RunMidscope(Sweep("12", whole));
  EXPECT_EQ(resumed.out, at_once.out);
  EXPECT_EQ(RunReader(file).Read("sweep").arrays.front().data,
            RunReader(whole).Read("sweep").arrays.front().data);
}

TEST(ProgramSweep, AFullDiskIsToldAndTheCheckpointStays) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const ProgramRun run = RunMidscope(With(Sweep("3", file), {"--attention"}),
                                     {.file_size_limit = 150000, .standard_input = ""});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("run.h5"));
  if (std::filesystem::exists(file)) {
    EXPECT_GE(RunReader(file).Describe("sweep").FindAxis("sample")->size, 1);
  }
  const ProgramRun resumed = RunMidscope(With(Sweep("3", file), {"--attention", "--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(json::parse(resumed.out)["rows"][0]["samples"], 3);
}

}  // namespace
}  // namespace midscope

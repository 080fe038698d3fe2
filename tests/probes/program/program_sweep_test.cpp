// SPDX-License-Identifier: MIT
// `midscope sweep` as a user runs it: its JSON, Ctrl-C, --resume, a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/store/record_reader.h"
#include "tests/paths.h"
#include "tests/probes/support/interrupted_program.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using testing::ExpectInterrupted;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTinyLlama = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";

Arguments SweepOfLines(const std::string& samples, const std::string& file) {
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

TEST(ProgramSweep, ManyFailedSamplesAreNotAllNamed) {
  const ProgramRun run =
      RunMidscope({"sweep", kTinyLlama, "--task", "kv:pairs=3", "--samples", "30"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("sample 4 failed: prompt too long"));
  EXPECT_THAT(run.err, HasSubstr("further samples failed; they are counted at the end"));
  EXPECT_THAT(run.err, Not(HasSubstr("sample 5 failed")));
  EXPECT_THAT(run.err, HasSubstr("every sample failed; the first: prompt too long"));
}

TEST(ProgramSweep, JsonHasTheFixedNames) {
  const TemporaryFolder folder;
  const ProgramRun run = RunMidscope(SweepOfLines("2", folder.File("run.h5")));
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
  // The table on standard output, the means in the file and its samples contain the same numbers.
  const RunReader reader(folder.File("run.h5"));
  const auto nll =
      std::get<std::vector<double>>(reader.ReadArray("outcome_means", "answer_nll").data);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i]["answer_nll"].get<double>(), nll[i]);
}

// For generated text, the table, the JSON, the file, its printed table and a CSV contain the same
// shares.
TEST(ProgramSweep, TellsWhichPieceTheGeneratedTextAnswers) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const ProgramRun run = RunWell(With(SweepOfLines("2", file), {"--score", "generation"}));
  EXPECT_THAT(run.err, HasSubstr("seconds per sample: none "));
  const json result = json::parse(run.out);
  const json& matrices = result["sweeps"][0]["answered_place"];
  ASSERT_EQ(matrices.size(), 2u);
  EXPECT_EQ(matrices[0]["gold_places"], json({1, 6}));
  EXPECT_EQ(matrices[0]["answered_places"], json({1, 2, 3, 4, 5, 6}));
  const RunReader reader(file);
  const auto stored =
      std::get<std::vector<double>>(reader.ReadArray("generated_outcomes", "answered_place").data);
  size_t at = 0;
  for (size_t setting = 0; setting < 2; ++setting) {
    for (size_t place = 0; place < 2; ++place) {
      const json& row = result["rows"][setting * 2 + place];
      double sum = row["answered_none"];
      for (const json& share : matrices[setting]["shares"][place]) {
        EXPECT_EQ(share.get<double>(), stored[at++]);
        sum += share.get<double>();
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_EQ(matrices[setting]["shares"][place][place == 0 ? 0 : 5], row["generated_right"]);
      EXPECT_EQ(row["generated_right"], row["generation_score"]);
    }
  }
  const std::string shown = RunWell({"show", file}).out;
  EXPECT_THAT(shown, HasSubstr("answered place, none\ngold place"));
  EXPECT_THAT(shown, HasSubstr("setting_seconds [s]"));
  EXPECT_THAT(RunWell({"export", file + "::generated_outcomes/answered_place"}).out,
              HasSubstr("answered"));
  // With likelihood only, nothing is generated.
  const json likelihood = json::parse(RunWell(SweepOfLines("2", folder.File("nll.h5"))).out);
  EXPECT_FALSE(likelihood["rows"][0].contains("generated_right"));
  EXPECT_FALSE(likelihood["sweeps"][0].contains("answered_place"));
}

TEST(ProgramSweep, RefusesAnExistingFileAndAnotherPlan) {
  const TemporaryFolder folder;
  const std::vector<std::string> sweep = SweepOfLines("1", folder.File("run.h5"));
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
  RunningProgram running(SweepOfLines("12", file));
  // The first checkpoint shows that samples are being run.
  ExpectInterrupted(running, file);
  const int64_t finished = RunReader(file).Describe("sweep").FindAxis("sample")->size;
  EXPECT_GE(finished, 1);
  EXPECT_LT(finished, 12);

  const ProgramRun resumed = RunMidscope(With(SweepOfLines("12", file), {"--resume"}));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  const std::string whole = folder.File("whole.h5");
  const ProgramRun at_once = RunMidscope(SweepOfLines("12", whole));
  EXPECT_EQ(resumed.out, at_once.out);
  EXPECT_EQ(RunReader(file).Read("sweep").arrays.front().data,
            RunReader(whole).Read("sweep").arrays.front().data);
}

TEST(ProgramSweep, AFullDiskIsToldAndTheCheckpointStays) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const ProgramRun run = RunMidscope(With(SweepOfLines("3", file), {"--attention"}),
                                     {.file_size_limit = 150000, .standard_input = ""});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("run.h5"));
  if (std::filesystem::exists(file)) {
    EXPECT_GE(RunReader(file).Describe("sweep").FindAxis("sample")->size, 1);
  }
  const ProgramRun resumed =
      RunMidscope(With(SweepOfLines("3", file), {"--attention", "--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(json::parse(resumed.out)["rows"][0]["samples"], 3);
}

// The test of whether places matter under a setting does not depend on the other settings.
TEST(ProgramSweep, PlacePIsTheSettingsOwnTest) {
  const Arguments sweep = {"sweep", kTinyLlama, "--task",     "kv:pairs=3",       "--samples",
                           "6",     "--score",  "likelihood", "--beyond-context", "--with",
                           "none"};
  const auto words = [](const std::string& out) {
    std::istringstream line(out.substr(out.find("\nnone ", out.find("over places")) + 1));
    std::string text;
    std::getline(line, text);
    std::istringstream row(text.substr(0, text.find('\n')));
    return std::vector<std::string>{std::istream_iterator<std::string>(row), {}};
  };
  const std::vector<std::string> alone = words(RunWell(sweep).out);
  const std::string both = RunWell(With(sweep, {"--with", "pi(2)", "--with", "pi(3)"})).out;
  EXPECT_THAT(both, HasSubstr("place p  adjusted"));
  const std::vector<std::string> beside = words(both);
  ASSERT_GE(beside.size(), 2u);
  EXPECT_EQ(alone.back(), beside[beside.size() - 2]);
}

// Text that a task's own tokens= cuts from prompts is counted, in particular the gold piece.
TEST(ProgramSweep, AGoldThatIsCutOutIsTold) {
  const TemporaryFolder folder;
  const std::string questions = folder.File("rag.jsonl");
  std::ofstream(questions)
      << R"({"context": ["The mill is Tom's.", "The inn is Ann's.", "The farm is Sue's."], )"
      << R"("gold": 2, "gold_from": 1, "question": "Who owns the inn?", "answers": ["Ann"]})"
      << "\n";
  const std::string file = folder.File("cut.h5");
  const Arguments sweep = {
      "sweep",   kTinyLlama,   "--task",          "jsonl:tokens=24,file=" + questions,
      "--score", "likelihood", "--beyond-context"};
  const ProgramRun run = RunWell(With(sweep, {"--out", file}));
  EXPECT_THAT(run.out, HasSubstr("gold cut out in 1 of 1 sample at place 2"));
  EXPECT_THAT(RunWell({"show", file}).out, HasSubstr("gold cut out in 1 of 1 sample at place 2"));
  const json rows = json::parse(RunWell(With(sweep, {"--json"})).out)["rows"];
  EXPECT_EQ(rows[1]["gold_cut_samples"], 1);
  EXPECT_EQ(rows[1]["cut_samples"], 1);
  EXPECT_FALSE(rows[0].contains("gold_cut_samples"));
  const auto begins =
      std::get<std::vector<int64_t>>(RunReader(file).ReadArray("sweep", "gold_token_begin").data);
  EXPECT_EQ(begins.at(1), -1);
  EXPECT_GE(begins.at(0), 0);
  EXPECT_THAT(RunWell({"probe", kTinyLlama, "--task", "jsonl:tokens=24,file=" + questions,
                       "--place", "2", "--beyond-context"})
                  .err,
              HasSubstr("its gold piece is gone"));
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Logs of one's own in `sweep`, `probe` and `merge`: lines of different lengths, appended lines,
// jobs that share the samples, prompts without answers, seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kLines[] = {
    R"({"documents": ["Bo has a cat.", "Ann has a dog.", "Cy has a cow."], "gold": 2,)"
    R"( "gold_from": 1, "question": "Who has a dog?", "answer": "Ann"})",
    R"({"documents": ["Eve is in Rome.", {"title": "Dan", "text": "He is in Oslo."}], "gold": 1,)"
    R"( "question": "Where is Eve?", "answer": "Rome"})",
    R"({"documents": ["It is red.", "It is blue.", "It is old.", "It is new."], "gold": 4,)"
    R"( "question": "What is it?", "answer": "new"})"};

class ProgramOwnLog : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }
  void WriteLog(size_t lines) const {
    std::ofstream log(File("log.jsonl"));
    for (size_t i = 0; i < lines; ++i) log << kLines[i] << "\n";
  }
  Arguments Sweep(const std::string& file, const Arguments& more) const {
    return With({"sweep", "embedded", "--task", File("log.jsonl"), "--score", "likelihood",
                 "--places", "0%,50%,100%", "--out", File(file)},
                more);
  }
  void ExpectSame(const std::string& a, const std::string& b) const {
    EXPECT_THAT(RunWell({"compare", File(a), File(b)}).out, HasSubstr(", 0 differ"));
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramOwnLog, PlacesAreSharesAndEqualOnesRunOnce) {
  WriteLog(3);
  const ProgramRun run = RunWell(Sweep("run.h5", {"--samples", "0"}));
  EXPECT_THAT(run.out, HasSubstr("run once and counted at both: 1 of 3 samples at 100 %"));
  const RunReader reader(File("run.h5"));
  const Array ranks = reader.ReadArray("sweep", "gold_rank");
  EXPECT_THAT(std::get<std::vector<int64_t>>(ranks.data), ElementsAre(1, 2, 3, 1, 2, 2, 1, 3, 4));
  const auto nll = std::get<std::vector<double>>(reader.ReadArray("sweep", "answer_nll").data);
  EXPECT_EQ(nll[4], nll[5]);
  EXPECT_NE(nll[3], nll[4]);
}

TEST_F(ProgramOwnLog, JobsThatShareTheSamplesAreOneRun) {
  WriteLog(3);
  RunWell(Sweep("whole.h5", {}));
  RunWell(Sweep("a.h5", {"--samples", "2"}));
  const ProgramRun last = RunWell(Sweep("b.h5", {"--sample", "2"}));
  EXPECT_THAT(last.out, HasSubstr("1 sample"));
  RunWell({"merge", File("merged.h5"), File("a.h5"), File("b.h5")});
  ExpectSame("merged.h5", "whole.h5");
  EXPECT_EQ(json::parse(RunReader(File("merged.h5")).plan_json()),
            json::parse(RunReader(File("whole.h5")).plan_json()));
  const ProgramRun beyond = RunMidscope(Sweep("c.h5", {"--sample", "3"}));
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.err, HasSubstr("from 0 to 2"));
}

TEST_F(ProgramOwnLog, AppendedLinesAreAddedToAFinishedSweep) {
  WriteLog(2);
  // A second length of lines is there from the start, so that places stay shares.
  RunWell(Sweep("grown.h5", {}));
  std::filesystem::copy_file(File("grown.h5"), File("resumed.h5"));
  WriteLog(3);
  const ProgramRun added = RunWell(Sweep("grown.h5", {"--add"}));
  EXPECT_THAT(added.out, HasSubstr("3 samples"));
  RunWell(Sweep("whole.h5", {}));
  ExpectSame("grown.h5", "whole.h5");
  RunWell(Sweep("resumed.h5", {"--resume", "--samples", "3"}));
  ExpectSame("resumed.h5", "whole.h5");
  EXPECT_EQ(json::parse(RunReader(File("grown.h5")).plan_json()),
            json::parse(RunReader(File("whole.h5")).plan_json()));
  std::ofstream(File("log.jsonl")) << kLines[1] << "\n"
                                   << kLines[0] << "\n"
                                   << kLines[2] << "\n"
                                   << kLines[2] << "\n";
  const ProgramRun changed = RunMidscope(Sweep("grown.h5", {"--add"}));
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.err, HasSubstr("another plan"));
}

TEST_F(ProgramOwnLog, LinesThatTurnRanksIntoSharesAreNotAdded) {
  const std::string first = kLines[0];
  std::ofstream(File("log.jsonl")) << first << "\n";
  const Arguments sweep = {"sweep",      "embedded", "--task", File("log.jsonl"), "--score",
                           "likelihood", "--places", "1,3",    "--out",           File("run.h5")};
  RunWell(sweep);
  WriteLog(2);
  const ProgramRun added = RunMidscope(With(sweep, {"--add"}));
  EXPECT_EQ(added.status, 1);
  EXPECT_THAT(added.err, HasSubstr("task_places is '3' there, but '101'"));
}

TEST_F(ProgramOwnLog, SamplesOfSeveralSeedsAreJoined) {
  const auto sweep = [&](const std::string& task, const std::string& seed) {
    std::string file = File("seed" + seed + ".h5");
    RunWell({"sweep", "embedded", "--task", task, "--score", "likelihood", "--places", "1,4",
             "--samples", "2", "--seed", seed, "--out", file, "--overwrite"});
    return file;
  };
  const std::string one = sweep("list:lines=4", "1");
  const std::string two = sweep("list:lines=4", "2");
  const json joined = json::parse(RunWell({"merge", File("both.h5"), one, two, "--json"}).out);
  EXPECT_EQ(joined["joined"], "seeds");
  EXPECT_EQ(joined["samples"], 4);
  const json plan = json::parse(RunReader(File("both.h5")).plan_json());
  EXPECT_EQ(plan["seeds"], json({1, 2}));
  EXPECT_EQ(plan["samples"], 4);
  const auto nll = [](const std::string& file) {
    return std::get<std::vector<double>>(RunReader(file).ReadArray("sweep", "answer_nll").data);
  };
  std::vector<double> all = nll(one);
  const std::vector<double> more = nll(two);
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_EQ(nll(File("both.h5")), all);
  EXPECT_THAT(RunWell({"show", File("both.h5")}).out, HasSubstr("4 samples"));

  WriteLog(2);
  const std::string same = sweep(File("log.jsonl"), "1");
  sweep(File("log.jsonl"), "2");
  const ProgramRun refused = RunMidscope({"merge", File("no.h5"), same, two});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("does not depend on the seed"));
}

TEST_F(ProgramOwnLog, PromptsWithoutAnswersAreProbedTogether) {
  std::ofstream(File("prompts.jsonl")) << R"({"prompt": "The sky is"})"
                                       << "\n"
                                       << R"({"prompt": "Water is very", "id": 2})"
                                       << "\n";
  RunWell({"probe", "embedded", "--task", "passages:file=" + File("prompts.jsonl"), "--samples",
           "0", "--probes", "next_tokens", "--out", File("p.h5")});
  const RunReader reader(File("p.h5"));
  EXPECT_EQ(reader.Describe("prompt").FindAxis("sample")->size, 2);
  const Array texts = reader.ReadArray("prompt", "text");
  EXPECT_THAT(std::get<std::vector<std::string>>(texts.data),
              ElementsAre("The sky is", "Water is very"));
}

}  // namespace
}  // namespace midscope

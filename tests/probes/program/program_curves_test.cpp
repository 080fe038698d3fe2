// SPDX-License-Identifier: MIT
// `midscope curves`: a folder of sweeps as a table, a record and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "data/store/record_reader.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Writes a sweep of two settings over two samples with four lines.
void SweepTo(const std::string& file, const std::string& places) {
  RunWell({"sweep", "embedded", "--task", "list:lines=4", "--samples", "2", "--places", places,
           "--with", "pi(1.2)", "--with", "pi(1.5)", "--out", file});
}

TEST(ProgramCurves, PrintsGapsOfSeveralPlacesAlone) {
  const TemporaryFolder folder;
  const std::string one = folder.File("one");
  const std::string several = folder.File("several");
  std::filesystem::create_directory(one);
  std::filesystem::create_directory(several);
  SweepTo(one + "/run.h5", "4");
  SweepTo(several + "/run.h5", "1,4");

  const std::string file = folder.File("one.h5");
  const ProgramRun single = RunWell({"curves", one, "--out", file});
  EXPECT_THAT(single.out, AllOf(HasSubstr("pi_ratio"), HasSubstr("mean [95 %]"),
                                Not(HasSubstr("gap")), Not(HasSubstr("worst place"))));
  const Record record = RunReader(file).Read("outcome_curves");
  EXPECT_NE(record.FindArray("answer_nll_mean"), nullptr);
  EXPECT_EQ(record.FindArray("answer_nll_gap"), nullptr);
  EXPECT_EQ(json::parse(RunWell({"curves", one, "--json"}).out).dump().find("_gap"),
            std::string::npos);

  const ProgramRun both = RunWell({"curves", several});
  EXPECT_THAT(both.out, AllOf(HasSubstr("gap [95 %]"), HasSubstr("worst place")));
  // Together with a sweep of one place, which has no gap, no missing number is printed.
  const ProgramRun mixed = RunWell({"curves", one, several, "--over", "pi.ratio"});
  EXPECT_THAT(mixed.out, Not(HasSubstr("nan")));
}

// Fig. 1c of the channel paper: attention on the gold by place, one line per length.
TEST(ProgramCurves, FilesOfProbesGiveAttentionOnTheGoldByPlace) {
  const TemporaryFolder folder;
  for (const char* lines : {"4", "8"}) {
    RunWell({"probe", "embedded", "--task", std::string("list:lines=") + lines, "--places",
             "0%,100%", "--samples", "2", "--probes", "key_information", "--key-layers", "15-25",
             "--out", folder.File(std::string(lines) + ".h5")});
  }
  const std::string out = folder.File("curves.h5");
  const ProgramRun run = RunWell(
      {"curves", folder.File("4.h5"), folder.File("8.h5"), "--over", "lines", "--out", out});
  EXPECT_THAT(run.out, AllOf(HasSubstr("gold_attention"), HasSubstr(" %\n")));
  const Record curves = RunReader(out).Read("outcome_curves");
  EXPECT_EQ(curves.FindAxis("lines")->values, (std::vector<double>{4, 8}));
  EXPECT_EQ(curves.FindAxis("place")->labels, (std::vector<std::string>{"0 %", "100 %"}));
  const auto& by_place = std::get<std::vector<double>>(curves.FindArray("gold_attention")->data);
  for (size_t size = 0; size < 2; ++size) {
    const RunReader file(folder.File(size == 0 ? "4.h5" : "8.h5"));
    // The gold piece at the first and at the last place.
    const Record map = file.Read("key_information_map");
    const auto& attention = std::get<std::vector<double>>(map.FindArray("attention_map_sum")->data);
    EXPECT_NEAR(by_place[2 * size], attention.front(), 1e-12);
    EXPECT_NEAR(by_place[2 * size + 1], attention.back(), 1e-12);
  }
  // Over the length of prompts; both files are found in their folder.
  EXPECT_THAT(RunWell({"curves", folder.File(""), "--over", "length"}).out,
              HasSubstr("gold_attention"));
  SweepTo(folder.File("sweep.h5"), "1,4");
  const ProgramRun mixed = RunMidscope({"curves", folder.File("sweep.h5"), folder.File("4.h5")});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_THAT(mixed.err, HasSubstr("no measure in common"));
}

TEST(ProgramCurves, DepthsArePercent) {
  const TemporaryFolder folder;
  for (const char* tokens : {"200", "300"}) {
    RunWell({"sweep", "embedded", "--task", std::string("needle:tokens=") + tokens, "--samples",
             "1", "--places", "0%,100%", "--score", "likelihood", "--out",
             folder.File(std::string(tokens) + ".h5")});
  }
  const ProgramRun run = RunWell({"curves", folder.File("200.h5"), folder.File("300.h5")});
  EXPECT_THAT(run.out, Not(HasSubstr("101")));
  EXPECT_THAT(run.out, ::testing::ContainsRegex("(0|100) %\n"));
}

TEST(ProgramCurves, AFolderWithoutSweepsIsRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.File("empty"));
  const ProgramRun run = RunMidscope({"curves", folder.File("empty")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("the folder must contain a file of midscope sweep"));
}

}  // namespace
}  // namespace midscope

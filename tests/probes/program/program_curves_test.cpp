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
using testing::ProgramRun;
using testing::RunMidscope;
using testing::RunWell;
using testing::TemporaryFolder;

// Writes a sweep of two settings over two samples with four lines.
void Sweep(const std::string& file, const std::string& places) {
  RunWell({"sweep", "embedded", "--task", "list:lines=4", "--samples", "2", "--places", places,
           "--with", "pi(1.2)", "--with", "pi(1.5)", "--out", file});
}

TEST(ProgramCurves, PrintsGapsOfSeveralPlacesAlone) {
  const TemporaryFolder folder;
  const std::string one = folder.File("one");
  const std::string several = folder.File("several");
  std::filesystem::create_directory(one);
  std::filesystem::create_directory(several);
  Sweep(one + "/run.h5", "4");
  Sweep(several + "/run.h5", "1,4");

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

TEST(ProgramCurves, AFolderWithoutSweepsIsRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.File("empty"));
  const ProgramRun run = RunMidscope({"curves", folder.File("empty")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("the folder must contain a file of midscope sweep"));
}

}  // namespace
}  // namespace midscope

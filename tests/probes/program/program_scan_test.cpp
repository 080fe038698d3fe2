// SPDX-License-Identifier: MIT
// `midscope scan` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const Arguments scan_arguments = {"scan",     "embedded", "--task",    "list:lines=6",
                                  "--places", "1,3,6",    "--samples", "2",
                                  "--layers", "3",        "--dtype",   "float32"};

TEST(ProgramScan, JsonIsTheContract) {
  const json result = json::parse(RunWell(With(scan_arguments, {"--json"})).out);
  ASSERT_EQ(result["effects"].size(), 27u);
  const json& one = result["effects"][4];
  EXPECT_EQ(one["kind"], "heads");
  EXPECT_EQ(one["id"], "L3H1");
  EXPECT_EQ(one["place"], 3);
  EXPECT_EQ(one["layer"], 3);
  EXPECT_EQ(one["head"], 1);
  EXPECT_LE(one["low"], one["effect"]);
  EXPECT_GE(one["high"], one["effect"]);
  // Equals the result of a sweep with that setting.
  const json sweep = json::parse(RunWell({"sweep", "embedded", "--task", "list:lines=6", "--places",
                                          "1,3,6", "--samples", "2", "--dtype", "float32", "--with",
                                          "none", "--with", "ablate(L3H1, rows=answer)", "--json"})
                                     .out);
  EXPECT_NEAR(one["effect"], sweep["rows"][4]["answer_nll_difference"], 1e-4);
}

TEST(ProgramScan, EffectsOnTopOfASetting) {
  const Arguments arguments = With(scan_arguments, {"--base", "pi(1.5)"});
  const json result = json::parse(RunWell(With(arguments, {"--json"})).out);
  EXPECT_EQ(result["base"], "pi(1.5)");
  const json& one = result["effects"][4];
  const json sweep =
      json::parse(RunWell({"sweep", "embedded", "--task", "list:lines=6", "--places", "1,3,6",
                           "--samples", "2", "--dtype", "float32", "--with", "pi(1.5)", "--with",
                           "pi(1.5) + ablate(L3H1, rows=answer)", "--json"})
                      .out);
  EXPECT_NEAR(one["effect"], sweep["rows"][4]["answer_nll_difference"], 1e-4);
  EXPECT_THAT(RunWell(arguments).out, HasSubstr("answer_nll minus that of pi(1.5), nats"));
  const ProgramRun refused = RunMidscope(With(scan_arguments, {"--base", "pj(1.5)"}));
  EXPECT_EQ(refused.status, 2);
}

TEST(ProgramScan, AFileIsResumedAndShown) {
  const TemporaryFolder folder;
  const std::string file = folder.File("scan.h5");
  const std::string out = RunWell(With(scan_arguments, {"--out", file})).out;
  EXPECT_THAT(out, HasSubstr("Largest on the middle place"));
  const std::string shown = RunWell({"show", file}).out;
  EXPECT_THAT(shown, HasSubstr("ablate({head}, rows=answer) over 9 heads, 2 samples"));
  Arguments more = With(scan_arguments, {"--out", file, "--resume", "--json"});
  more[7] = "3";
  EXPECT_EQ(json::parse(RunWell(more).out)["samples"], 3);
}

TEST(ProgramScan, OverOtherThingsThanHeads) {
  const Arguments few = {"scan",  "embedded",  "--task", "list:lines=6", "--places",
                         "1,3,6", "--samples", "2",      "--json"};
  const json channels =
      json::parse(RunWell(With(few, {"--over", "channels", "--channels", "99-101"})).out);
  ASSERT_EQ(channels["mean_effects"].size(), 3u);
  EXPECT_EQ(channels["mean_effects"][1]["channel"], 100);
  const json spans = json::parse(RunWell(With(few, {"--over", "spans"})).out);
  ASSERT_EQ(spans["mean_effects"].size(), 2u);
  EXPECT_EQ(spans["mean_effects"][0]["id"], "gold");
  // Only the gold piece contains the answer.
  EXPECT_GT(spans["mean_effects"][0]["effect"], 1);
}

TEST(ProgramScan, SaysWhatIsWrong) {
  const ProgramRun no_place = RunMidscope(With(scan_arguments, {"--with", "pi(1.5)"}));
  EXPECT_EQ(no_place.status, 2);
  EXPECT_THAT(no_place.err, HasSubstr("it must contain {head}"));
  const ProgramRun other_kind = RunMidscope(With(scan_arguments, {"--over", "channels"}));
  EXPECT_EQ(other_kind.status, 2);
  EXPECT_THAT(other_kind.err, HasSubstr("--layers"));
  const ProgramRun nowhere = RunMidscope({"scan", "embedded", "--layers", "40", "--samples", "1"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("layers 0 to 29"));
}

TEST(ProgramScan, ADryRunRunsNothing) {
  EXPECT_THAT(RunWell(With(scan_arguments, {"--dry-run", "--throughput", "1000"})).out,
              HasSubstr("runs"));
}

}  // namespace
}  // namespace midscope

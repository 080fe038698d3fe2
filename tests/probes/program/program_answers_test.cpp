// SPDX-License-Identifier: MIT
// The first lines that a user reads: the verdict of a sweep, tables that fit, part of the places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/utf8.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTiny = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";

Arguments Sweep(const std::string& samples, const std::string& file) {
  return {"sweep",     "embedded",
          "--task",    "list:lines=6",
          "--places",  "1,3,6",
          "--samples", samples,
          "--score",   "likelihood",
          "--with",    "none",
          "--with",    "channel(100, factor=-1, layers=8-25)",
          "--out",     file};
}

// Expects that no line is wider, and that the output has lines.
void ExpectFits(const std::string& out, int64_t width, const std::string& of) {
  EXPECT_FALSE(out.empty()) << of;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    // A path has no spaces at which it could be wrapped.
    if (line.find("/midscope-test-") != std::string::npos) continue;
    EXPECT_LE(CountCharacters(line), width) << of << ": " << line;
  }
}

TEST(ProgramAnswers, TheVerdictStandsInTextJsonAndShow) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const std::string text = RunWell(Sweep("6", file)).out;
  const json shown = json::parse(RunWell({"show", file, "--json"}).out);
  const json& verdicts = shown["sweeps"][0]["verdicts"];
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0]["setting"], "none");
  EXPECT_EQ(verdicts[0]["measure"], "answer_nll");
  EXPECT_TRUE(verdicts[0]["matters"].is_boolean());
  for (const char* number : {"p", "p_adjusted", "gap", "low", "high", "chance", "detectable"}) {
    EXPECT_TRUE(verdicts[0][number].is_number()) << number;
  }
  const json& statistics = shown["sweeps"][0]["settings"][0];
  EXPECT_EQ(verdicts[0]["p_adjusted"], statistics["place_p_holm"]);
  EXPECT_EQ(verdicts[0]["gap"], statistics["gap"]);
  EXPECT_EQ(verdicts[0]["best"], statistics["best_place"]);
  // The sentences precede the table.
  std::string lines;
  for (const json& one : verdicts) {
    lines += one["setting"].get<std::string>() + ": " + one["verdict"].get<std::string>() + "\n";
  }
  EXPECT_EQ(text.substr(0, lines.size()), lines);
  EXPECT_THAT(RunWell({"show", file}).out, HasSubstr("\n\n" + lines + "\nsetting"));
  EXPECT_TRUE(shown["rows"].is_array());
  EXPECT_TRUE(shown["records"].is_array());
}

TEST(ProgramAnswers, FewSamplesGiveNoVerdictButAReason) {
  const std::string text = RunWell({"sweep", "embedded", "--task", "list:lines=4", "--samples", "1",
                                    "--score", "likelihood", "--places", "1,4"})
                               .out;
  EXPECT_THAT(text,
              HasSubstr("none: no verdict on the place: 1 sample is too few, 6 are needed\n"));
}

TEST(ProgramAnswers, TablesAndCaptionsFitTheWidth) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const std::string other = folder.File("other.h5");
  RunWell(With(Sweep("2", file), {"--seed", "1"}));
  RunWell(With(Sweep("2", other), {"--seed", "2"}));
  const std::vector<Arguments> commands = {
      {"show", file},
      {"show", file, "--places", "3,6"},
      {"ls", file},
      {"compare", file, other},
      {"curves", file, other, "--over", "channel.factor"},
      {"compare", "--published", "list"},
      {"compare", "--published", "mspoe-t2"},
      {"info", "embedded", "--tokens", "1000,4000"},
      {"rope", "--dim", "64", "--base", "100000", "--context", "8192", "--factor", "4"},
      {"positions", "cream", "--tokens", "4096", "--context", "32768", "--coverage"},
      {"scan", kTiny, "--task", "kv:pairs=3", "--places", "1,2,3", "--samples", "2",
       "--beyond-context", "--layers", "0-1"},
      {"probe", kTiny, "--prompt", "The capital of France is", "--channels", "10"},
      {"sweep", kTiny, "--task", "kv:pairs=2", "--places", "1,2", "--samples", "2",
       "--beyond-context", "--score", "both", "--with", "none", "--with",
       "channel(10, factor=-1, layers=0-1)"},
  };
  for (const Arguments& command : commands) {
    for (const char* columns : {"80", "200"}) {
      const ProgramRun run = RunMidscope(command, {.environment = {{"COLUMNS", columns}}});
      if (command.front() == "curves" && run.status != 0) continue;  // one number does not differ
      EXPECT_EQ(run.status, 0) << run.err;
      ExpectFits(run.out, std::stoi(columns), command.front());
    }
    // Without a terminal and without COLUMNS.
    const ProgramRun run = RunMidscope(command, {.environment = {{"COLUMNS", ""}}});
    ExpectFits(run.status == 0 ? run.out : "-", 160, command.front());
  }
}

TEST(ProgramAnswers, ShowTakesAPartOfThePlaces) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  RunWell(Sweep("6", file));
  const std::string text = RunWell({"show", file, "--places", "3,6"}).out;
  EXPECT_THAT(text, HasSubstr("over places 3, 6 of 1, 3, 6\n"));
  EXPECT_THAT(text, Not(HasSubstr("provenance:")));
  const json all = json::parse(RunWell({"show", file, "--json"}).out);
  const json part = json::parse(RunWell({"show", file, "--places", "3,6", "--json"}).out);
  EXPECT_EQ(part["sweeps"][0]["chosen_places"], json({3, 6}));
  ASSERT_EQ(part["rows"].size(), 4u);
  EXPECT_EQ(part["rows"][0], all["rows"][1]);
  EXPECT_EQ(part["rows"][3], all["rows"][5]);
  const double mean =
      (all["rows"][1]["answer_nll"].get<double>() + all["rows"][2]["answer_nll"].get<double>()) / 2;
  EXPECT_NEAR(part["sweeps"][0]["settings"][0]["mean"], mean, 1e-12);
  EXPECT_EQ(RunMidscope({"show", file, "--places", "2"}).status, 2);
  EXPECT_EQ(RunMidscope({"show", file + "::sweep", "--places", "3"}).status, 2);
}

TEST(ProgramAnswers, CompareTakesAPartOfThePlacesWithTheirMean) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const std::string other = folder.File("other.h5");
  RunWell(Sweep("6", file));
  RunWell(With(Sweep("6", other), {"--dtype", "bfloat16"}));
  const Arguments compare = {"compare", file, other, "--places", "3,6"};
  EXPECT_THAT(RunWell(compare).out, HasSubstr("over places 3, 6 of 1, 3, 6\n"));
  const json rows = json::parse(RunWell(With(compare, {"--json"})).out)["rows"];
  ASSERT_EQ(rows.size(), 12u);  // 2 settings x (2 places and their mean) x 2 files
  EXPECT_EQ(rows[5]["place_text"], "mean");
  EXPECT_TRUE(rows[5]["place"].is_null());
  EXPECT_NEAR(rows[5]["difference"].get<double>(),
              (rows[1]["difference"].get<double>() + rows[3]["difference"].get<double>()) / 2,
              1e-12);
  EXPECT_TRUE(rows[5]["difference_low"].is_number());
  EXPECT_EQ(RunMidscope({"compare", file, other, "--places", "2"}).status, 2);
}

TEST(ProgramAnswers, ShortHelpIsPrintedByTheProgram) {
  const std::string brief = RunWell({"sweep", "-h"}).out;
  EXPECT_THAT(brief, HasSubstr("midscope sweep --help describes all "));
  EXPECT_LT(brief.size(), RunWell({"sweep", "--help"}).out.size() / 3);
}

}  // namespace
}  // namespace midscope

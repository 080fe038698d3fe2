// SPDX-License-Identifier: MIT
// Every file that a command writes can be listed, shown and exported in every format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

// The output files of all commands, made once by small runs of the embedded model.
class ProgramExport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder();
    const Words list = {"embedded", "--task", "list:lines=6"};
    Make("probe", {"probe", "embedded", "--prompt", "The capital of France is", "--answer",
                   " Paris", "--channels", "100"});
    Make("batch", Joined({"probe"}, list,
                         {"--places", "1,6", "--samples", "2", "--probes",
                          std::string("last_query_attention,span_attention,logit_lens,") +
                              "retrieval_heads,head_scores,key_information"}));
    Make("sweep", Joined({"sweep"}, list,
                         {"--places", "1,3,6", "--samples", "3", "--attention", "--control",
                          "--with", "none", "--with", "channel(100,factor=-1)"}));
    Make("none", Joined({"sweep"}, list, {"--places", "1,6", "--samples", "2"}));
    Make("scaled",
         Joined({"sweep"}, list, {"--places", "1,6", "--samples", "2", "--with", "pi(1.5)"}));
    Make("generated", {"sweep", "embedded", "--task", "passkey:tokens=200", "--places", "0%,100%",
                       "--samples", "2", "--score", "both"});
    Make("channels", {"channels", "embedded", "--prompts", "2", "--tokens", "222", "--examples",
                      "2", "--factors", "-1", "--top", "2", "--places", "1,20"});
    Make("rope", {"rope", "--dim", "8", "--base", "10000", "--context", "64", "--factor", "2"});
    std::ofstream(File("settings.txt")) << "pi(1.5)\nout " << File("whatif.h5") << "\n";
    Expect(RunMidscope(Joined({"whatif"}, list, {"--place", "3"}),
                       {.file_size_limit = 0, .standard_input = File("settings.txt")}),
           "whatif");
    Expect(RunMidscope({"merge", File("merged.h5"), File("none.h5"), File("scaled.h5")}), "merge");
    Expect(
        RunMidscope({"merge", "--virtual", File("virtual.h5"), File("none.h5"), File("scaled.h5")}),
        "merge --virtual");
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }

  static Words Joined(Words first, const Words& second, const Words& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  }
  static std::string File(const std::string& name) { return folder->File(name); }
  static void Expect(const ProgramRun& run, const std::string& what) {
    EXPECT_EQ(run.status, 0) << what << ": " << run.err;
    EXPECT_THAT(run.err, Not(HasSubstr("internal error"))) << what;
  }
  static void Make(const std::string& name, Words words) {
    words.insert(words.end(), {"--out", File(name + ".h5")});
    const ProgramRun run = RunMidscope(words);
    Expect(run, name);
    EXPECT_THAT(run.out, ::testing::EndsWith("\nfile: " + File(name + ".h5") + "\n")) << name;
    printed[name] = run.out.substr(0, run.out.find("\nfile: ") + 1);
  }
  static const Words& Names() {
    static const Words names = {"probe",    "batch", "sweep",  "none",   "scaled", "generated",
                                "channels", "rope",  "whatif", "merged", "virtual"};
    return names;
  }

  static TemporaryFolder* folder;
  // Output of the commands, without the file's name.
  static std::map<std::string, std::string> printed;
};

TemporaryFolder* ProgramExport::folder = nullptr;
std::map<std::string, std::string> ProgramExport::printed;

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(ProgramExport, EveryFileIsListedAndShown) {
  for (const std::string& name : Names()) {
    for (const char* command : {"ls", "show"}) {
      const ProgramRun run = RunMidscope({command, File(name + ".h5")});
      Expect(run, std::string(command) + " " + name);
      EXPECT_THAT(run.out, HasSubstr(name + ".h5")) << command;
    }
    Expect(RunMidscope({"show", File(name + ".h5"), "--json"}), "show --json " + name);
    Expect(RunMidscope({"report", File(name + ".h5")}), "report " + name);
  }
}

// Expects the rows of a record to have as many cells as the header; no cell here contains a comma.
void ExpectTable(const std::string& csv, const std::string& name) {
  const size_t line = csv.find("\r\n");
  ASSERT_NE(line, std::string::npos) << name;
  EXPECT_THAT(csv.substr(0, line), HasSubstr(",")) << name;
  EXPECT_GT(csv.size(), line + 2) << name << " has no rows";
}

TEST_F(ProgramExport, EveryFileIsExportedAsTextAndNumbers) {
  for (const std::string& name : Names()) {
    const std::string file = File(name + ".h5");
    const ProgramRun csv = RunMidscope({"export", file});
    Expect(csv, "csv of " + name);
    ExpectTable(csv.out, name);
    const ProgramRun exported = RunMidscope({"export", file, "--format", "json"});
    Expect(exported, "json of " + name);
    EXPECT_FALSE(nlohmann::json::parse(exported.out)["records"].empty()) << name;
    Expect(RunMidscope({"export", file, "--out", File(name + ".npz")}), "npz of " + name);
    EXPECT_EQ(Contents(File(name + ".npz")).substr(0, 4), std::string("PK\3\4", 4)) << name;
  }
  // Reads it with numpy: every member occurs once, none is pickled, and integer axes are integers.
  const char* python = std::getenv("MIDSCOPE_PEERS_PYTHON");
  if (!python) {
    std::cout << "not checked: numpy reads the NPZ files (MIDSCOPE_PEERS_PYTHON names no Python)\n";
    return;
  }
  std::ofstream(File("check.py"))
      << "import sys, zipfile, numpy\n"
         "for path in sys.argv[1:]:\n"
         "    members = zipfile.ZipFile(path).namelist()\n"
         "    assert len(members) == len(set(members)), (path, members)\n"
         "    arrays = numpy.load(path, allow_pickle=False)\n"
         "    assert len(arrays.files) == len(members) and len(members) > 2, path\n"
         "    for name in arrays.files: arrays[name]\n"
         "    if 'place' in arrays: assert arrays['place'].dtype == 'int64', path\n";
  std::string command = std::string(python) + " " + File("check.py");
  for (const std::string& name : Names()) command += " " + File(name + ".npz");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(ProgramExport, ShowPrintsTheTableThatTheCommandPrinted) {
  for (const char* name : {"sweep", "none", "generated", "channels"}) {
    ASSERT_GT(printed[name].size(), 100U) << name;
    EXPECT_THAT(RunMidscope({"show", File(std::string(name) + ".h5")}).out,
                HasSubstr("\n" + printed[name]))
        << name;
  }
  EXPECT_THAT(printed["sweep"], HasSubstr("channel(100,factor=-1)"));
  EXPECT_THAT(printed["sweep"], HasSubstr("(control)"));
  // Joined files also accept the settings as they were given.
  EXPECT_THAT(RunMidscope({"show", File("merged.h5")}).out, HasSubstr("\npi(1.5)  "));
  const ProgramRun listed = RunMidscope({"ls", File("channels.h5")});
  EXPECT_THAT(listed.out, HasSubstr(": channel search; "));
}

TEST_F(ProgramExport, PlacesByShareArePrintedAsShares) {
  EXPECT_THAT(printed["generated"], ::testing::ContainsRegex("none +0 % +2 "));
  EXPECT_THAT(printed["generated"], ::testing::ContainsRegex("none +100 % +2 "));
  EXPECT_THAT(RunMidscope({"compare", File("generated.h5"), File("generated.h5")}).out,
              ::testing::ContainsRegex("none +100 % +B "));
  const ProgramRun csv =
      RunMidscope({"export", File("generated.h5"), "--array", "outcome_means/place_share"});
  EXPECT_EQ(csv.out, "array,place,value\r\nplace_share,1,0\r\nplace_share,101,1\r\n");
  const ProgramRun rows = RunMidscope({"sweep", "embedded", "--task", "list:lines=6", "--places",
                                       "0%,50%,100%", "--samples", "1", "--json"});
  ASSERT_EQ(rows.status, 0) << rows.err;
  const nlohmann::json row = nlohmann::json::parse(rows.out)["rows"][1];
  EXPECT_EQ(row["place"], 4) << "1 + floor(0.5 * 5 + 0.5)";
  EXPECT_DOUBLE_EQ(row["place_share"], 0.6) << "the fourth of six: three of five steps";
}

TEST_F(ProgramExport, ASliceTakesTheSettingAsItWasTyped) {
  const std::string array = File("sweep.h5") + "::sweep/answer_nll";
  const ProgramRun typed =
      RunMidscope({"show", array, "--slice", "setting=channel(100,factor=-1)"});
  ASSERT_EQ(typed.status, 0) << typed.err;
  EXPECT_EQ(typed.out, RunMidscope({"show", array, "--slice", "setting=1"}).out);
  const ProgramRun none = RunMidscope({"show", array, "--slice", "place=2"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("1, 3, 6"));
}

TEST_F(ProgramExport, ShowListsTheLargestHeads) {
  const std::string file = File("batch.h5");
  const ProgramRun all = RunMidscope({"show", file});
  EXPECT_THAT(all.out, ::testing::ContainsRegex(
                           "mean_retrieval_score.*\n    L[0-9]+H[0-9] [0-9.]+, L[0-9]+H[0-9] "));
  EXPECT_THAT(all.out, Not(::testing::ContainsRegex("lens_token_ids[^\\n]*mean")));
  EXPECT_THAT(all.out, Not(::testing::ContainsRegex("gold_token_begin[^\\n]*mean")));
  const ProgramRun two =
      RunMidscope({"show", file + "::retrieval_heads_mean/mean_retrieval_score", "--top", "2"});
  EXPECT_EQ(std::count(two.out.begin(), two.out.end(), ','), 2) << two.out;
}

TEST_F(ProgramExport, OverwriteReplacesAndResumeDoesNot) {
  const Words sweep = {"sweep", "embedded",  "--task", "list:lines=6", "--places",
                       "1",     "--samples", "1",      "--out",        File("again.h5")};
  ASSERT_EQ(RunMidscope(sweep).status, 0);
  EXPECT_EQ(RunMidscope(sweep).status, 2);
  EXPECT_EQ(RunMidscope(Joined(sweep, {"--overwrite"}, {"--resume"})).status, 2);
  Words other = Joined(sweep, {"--overwrite"}, {"--with", "pi(1.5)"});
  ASSERT_EQ(RunMidscope(other).status, 0);
  EXPECT_THAT(RunMidscope({"show", File("again.h5")}).out, HasSubstr("pi(1.5)"));
}

#if MIDSCOPE_HAS_GUI
TEST_F(ProgramExport, EveryFileWithPicturesIsDrawn) {
  for (const char* format : {"png", "svg", "pdf"}) {
    for (const std::string name : {"probe", "batch", "sweep", "generated", "whatif", "virtual"}) {
      if (format != std::string("png") && name != "probe") continue;
      const ProgramRun run = RunMidscope(
          {"export", File(name + ".h5"), "--format", format, "--out", File(name + "-pictures")});
      Expect(run, name + " as " + format);
      EXPECT_EQ(run.err, "") << name << ": nothing of Qt's";
      std::istringstream lines(run.out);
      size_t pictures = 0;
      for (std::string line; std::getline(lines, line); ++pictures) {
        ASSERT_EQ(line.substr(0, 6), "file: ");
        if (line.ends_with(".csv")) {
          EXPECT_THAT(Contents(line.substr(6)), HasSubstr("\n# picture: midscope export ")) << line;
        } else {
          EXPECT_GT(Contents(line.substr(6)).size(), 500U) << line;
        }
        for (const char* id : {"token_ids", "gold_token", "answer_tokens", "prompt_tokens"}) {
          EXPECT_THAT(line, Not(HasSubstr(id)));
        }
      }
      EXPECT_GE(pictures, 1U) << name;
    }
  }
  // Existing pictures are not overwritten unless --overwrite is given.
  const Words again = {"export", File("probe.h5"), "--format",
                       "png",    "--out",          File("probe-pictures")};
  const ProgramRun refused = RunMidscope(again);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_EQ(RunMidscope(Joined(again, {"--overwrite"}, {})).status, 0);
  // The name of a single picture: several pictures are rejected, one is written to it.
  const ProgramRun several = RunMidscope({"export", File("probe.h5"), "--out", File("one.png")});
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, HasSubstr("head_map.png"));
  EXPECT_EQ(Contents(File("one.png")), "");
  const ProgramRun named = RunMidscope({"export", File("probe.h5"), "--out", File("head_map.png")});
  EXPECT_EQ(named.out, "file: " + File("head_map.csv") + "\nfile: " + File("head_map.png") + "\n");
  const ProgramRun one =
      RunMidscope({"export", File("probe.h5") + "::position_awareness", "--out", File("one.png")});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(Contents(File("one.png")).substr(1, 3), "PNG");
  // Its numbers are in a CSV file of the same name.
  EXPECT_THAT(Contents(File("one.csv")), HasSubstr("\n# run: midscope probe "));
  EXPECT_THAT(Contents(File("one.csv")), HasSubstr("\nlayer,head,"));
}
#endif

TEST_F(ProgramExport, ARecordOverOneAxisIsATable) {
  const ProgramRun run = RunMidscope({"export", File("sweep.h5") + "::setting_comparisons"});
  EXPECT_THAT(run.out, HasSubstr("comparison,measure,setting,against,what,difference,"));
  EXPECT_THAT(run.out, HasSubstr("\r\n0,answer_nll,"));
  // In the table of the complete file, the array's name is qualified, because an axis is also named
  // `setting`.
  EXPECT_THAT(RunMidscope({"export", File("sweep.h5")}).out,
              HasSubstr("\r\nsetting_comparisons.setting,"));
}

}  // namespace
}  // namespace midscope

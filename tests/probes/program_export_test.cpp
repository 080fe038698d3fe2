// SPDX-License-Identifier: MIT
// Every file that a command writes can be listed, shown and exported in every format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/probes/run_program.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramRun;
using testing::RunMidscope;

using Words = std::vector<std::string>;

// The files of all commands, made once, by small runs of the embedded model.
class ProgramExport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder();
    const Words list = {"embedded", "--task", "list:lines=6"};
    Make("probe", {"probe", "embedded", "--prompt", "The capital of France is", "--answer",
                   " Paris", "--channels", "100"});
    Make("batch", Joined({"probe"}, list,
                         {"--places", "1,6", "--samples", "2", "--probes",
                          "last_query_attention,span_attention,logit_lens,retrieval_heads,"
                          "head_scores,key_information"}));
    Make("sweep", Joined({"sweep"}, list,
                         {"--places", "1,3,6", "--samples", "3", "--attention", "--with", "none",
                          "--with", "pi(1.5)"}));
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
    delete folder_;
    folder_ = nullptr;
  }

  static Words Joined(Words first, const Words& second, const Words& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  }
  static std::string File(const std::string& name) { return folder_->File(name); }
  static void Expect(const ProgramRun& run, const std::string& what) {
    EXPECT_EQ(run.status, 0) << what << ": " << run.err;
    EXPECT_THAT(run.err, Not(HasSubstr("internal error"))) << what;
  }
  static void Make(const std::string& name, Words words) {
    words.insert(words.end(), {"--out", File(name + ".h5")});
    Expect(RunMidscope(words), name);
  }
  static const Words& Names() {
    static const Words names = {"probe",    "batch", "sweep",  "none",   "scaled", "generated",
                                "channels", "rope",  "whatif", "merged", "virtual"};
    return names;
  }

  static testing::TemporaryFolder* folder_;
};

testing::TemporaryFolder* ProgramExport::folder_ = nullptr;

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
  }
}

// Rows of one record have as many cells as the header has columns; no cell here has a comma.
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
    const ProgramRun json = RunMidscope({"export", file, "--format", "json"});
    Expect(json, "json of " + name);
    EXPECT_FALSE(nlohmann::json::parse(json.out)["records"].empty()) << name;
    Expect(RunMidscope({"export", file, "--out", File(name + ".npz")}), "npz of " + name);
    EXPECT_EQ(Contents(File(name + ".npz")).substr(0, 4), std::string("PK\3\4", 4)) << name;
  }
  // By numpy: every member once, none a pickle, axes of whole numbers as such.
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

TEST_F(ProgramExport, ARecordOverOneAxisIsATable) {
  const ProgramRun run = RunMidscope({"export", File("sweep.h5") + "::setting_comparisons"});
  EXPECT_THAT(run.out, HasSubstr("comparison,measure,setting,against,what,difference,"));
  EXPECT_THAT(run.out, HasSubstr("\r\n0,answer_nll,"));
  // In the table of the whole file its name is qualified, for an axis is called `setting` too.
  EXPECT_THAT(RunMidscope({"export", File("sweep.h5")}).out,
              HasSubstr("\r\nsetting_comparisons.setting,"));
}

}  // namespace
}  // namespace midscope

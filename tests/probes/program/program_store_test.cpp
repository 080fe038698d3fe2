// SPDX-License-Identifier: MIT
// `midscope ls`, show, merge, compare and export as a user runs them, on files that need no model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/store/run_store.h"
#include "data/sweep/sweep_store.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "tests/data/support/example_records.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kUsage = 2;

// Writes a sweep of mdqa with ten documents; `worse`: nats added to every answer.
void WriteSweep(const std::string& path, const std::string& setting, int64_t first, double worse,
                const std::string& task = "mdqa:documents=10") {
  const std::vector<int64_t> places = {1, 5, 10};
  const std::string plan = R"({"task":")" + task + R"(","seed":1,"samples":4,"places":[1,5,10],)" +
                           "\"settings\":[\"" + setting + "\"]}";
  Provenance provenance = ExampleProvenance();
  provenance.options_json = R"({"with":")" + setting + R"(","task":")" + task + R"(","seed":"1"})";
  SweepStore store = SweepStore::Create(path, plan, provenance);
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = first; sample < first + 2; ++sample) {
    const auto base = static_cast<double>(sample);
    outcomes.push_back({sample, {base + worse, base + 1 + worse, base + 2 + worse}, {1, 0, 1}});
    Record record;
    record.name = "outcome";
    record.axes = {{"setting", 1, "", {setting}, {}}, {"place", 3, "rank", {}, {1, 5, 10}}};
    record.arrays = {{"answer_nll", {"setting", "place"}, outcomes.back().answer_nll, "nats", ""},
                     {"correct", {"setting", "place"}, outcomes.back().correct, "", ""}};
    store.Append(sample, record);
  }
  store.Finish({OutcomeMeansRecord({setting}, places, SummariseOutcomes(outcomes, 1, 3, 1))});
}

class ProgramStore : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteSweep(File("a.h5"), "none", 0, 0);
    WriteSweep(File("more.h5"), "none", 2, 0);
    WriteSweep(File("pi.h5"), "pi(1.5)", 0, 0.25);
    WriteBytes(File("cut.h5"), ReadBytes(File("a.h5")).substr(0, 3000));
    WriteBytes(File("text.h5"), "no HDF5");
  }
  std::string File(const std::string& name) const { return folder_.File(name); }

  TemporaryFolder folder_;
};

TEST_F(ProgramStore, LsNamesAddressesAndGoesOnAfterADamagedFile) {
  const ProgramRun run = RunMidscope({"ls", File("cut.h5"), File("a.h5"), File("text.h5")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("2 of 3 files"));
  EXPECT_THAT(run.out, HasSubstr("::/entry/sweep/answer_nll"));
  EXPECT_THAT(run.out, HasSubstr("[sample 2, setting 1, place 3]"));
  const ProgramRun listed = RunMidscope({"ls", File("a.h5") + "::sweep", "--json"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  const json file = json::parse(listed.out)["files"][0];
  EXPECT_EQ(file["plan"]["task"], "mdqa:documents=10");
  EXPECT_EQ(file["records"][0]["arrays"][0]["shape"], json({2, 1, 3}));
  // An address listed by `ls` is accepted by `show`.
  const std::string address = file["records"][0]["arrays"][0]["address"];
  EXPECT_EQ(RunMidscope({"show", address}).status, 0);
}

TEST_F(ProgramStore, LsTellsWhatAJournalHolds) {
  const std::string plan = R"({"task":"kv","seed":1,"samples":4,"places":[1],"settings":["none"]})";
  SweepStore store = SweepStore::Create(File("run.h5"), plan, ExampleProvenance());
  store.Append(0, ExampleSample(0));
  const ProgramRun begun = RunMidscope({"ls", File("run.h5.journal")});
  EXPECT_EQ(begun.status, 0) << begun.err;
  EXPECT_THAT(begun.out, HasSubstr("journal of " + File("run.h5") + ": 1 sample waits in it"));
  const json listed =
      json::parse(RunMidscope({"ls", File("run.h5.journal"), "--json"}).out)["files"][0];
  EXPECT_EQ(listed["journal_of"], File("run.h5"));
  EXPECT_EQ(listed["samples"], json(std::vector<int>{0}));
  EXPECT_EQ(listed["plan"]["task"], "kv");
  EXPECT_THAT(RunMidscope({"show", File("run.h5.journal")}).err, HasSubstr("journal"));

  // After a checkpoint the journal contains only the plan, so no sample is pending.
  store.Checkpoint();
  EXPECT_THAT(RunMidscope({"ls", File("run.h5")}).out, Not(HasSubstr("unfinished")));
  store.Append(1, ExampleSample(1));
  EXPECT_THAT(RunMidscope({"ls", File("run.h5")}).out,
              HasSubstr("unfinished: 1 more sample in " + File("run.h5.journal")));
}

TEST_F(ProgramStore, WhatFilesSayMovesNoCursor) {
  const char* escape =
      "\x1b[2J\x1b]0;x\x07\xc2\x9b"
      "31m\n";
  Record record = ExampleSample(0);
  record.axes[3].labels = {escape, "pi(1.5)"};
  record.arrays[0].unit = escape;
  record.arrays[0].description = escape;
  record.attributes["text"] = escape;
  Provenance provenance = ExampleProvenance();
  provenance.command = escape;
  WriteRecords(File("odd.h5"), {record}, provenance);
  const std::vector<std::vector<std::string>> commands = {
      {"ls", File("odd.h5")},
      {"show", File("odd.h5")},
      {"show", File("odd.h5") + "::sweep/answer_nll"},
      {"show", File("odd.h5") + "::" + escape},
      {"compare", File("odd.h5"), File("a.h5")}};
  for (const std::vector<std::string>& command : commands) {
    const ProgramRun run = RunMidscope(command);
    for (const char* mark : {"\x1b", "\x07", "\xc2\x9b"}) {
      EXPECT_THAT(run.out + run.err, Not(HasSubstr(mark))) << command[0];
    }
  }
}

TEST_F(ProgramStore, CompareEscapesAFieldOnce) {
  Provenance provenance = ExampleProvenance();
  provenance.command = "first\tC:\\one";
  WriteRecords(File("first.h5"), {ExampleSample(0)}, provenance);
  provenance.command = "second";
  WriteRecords(File("second.h5"), {ExampleSample(0)}, provenance);
  const ProgramRun run = RunMidscope({"compare", File("first.h5"), File("second.h5")});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(R"(first\tC:\\one  second)"));
}

TEST_F(ProgramStore, ShowPrintsAPartByItsPlaces) {
  const ProgramRun run = RunMidscope({"show", File("a.h5") + "::sweep/answer_nll", "--slice",
                                      "sample=1", "--slice", "place=5-10"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("place  value\n    5      2\n   10      3\n"));
  EXPECT_EQ(RunMidscope({"show", File("a.h5"), "--slice", "sample=9"}).status, kUsage);
  EXPECT_EQ(RunMidscope({"show", File("a.h5"), "--slice", "nonsense"}).status, kUsage);
  EXPECT_EQ(RunMidscope({"show", File("cut.h5")}).status, 1);
  EXPECT_THAT(RunMidscope({"show", File("a.h5")}).out, HasSubstr("model_hash"));
}

TEST_F(ProgramStore, MergeJoinsSamplesOrSettings) {
  ASSERT_EQ(RunMidscope({"merge", File("all.h5"), File("a.h5"), File("more.h5")}).status, 0);
  EXPECT_THAT(RunMidscope({"ls", File("all.h5")}).out, HasSubstr("4 of 4 samples, 1 setting"));
  EXPECT_EQ(RunMidscope({"merge", File("all.h5"), File("a.h5"), File("more.h5")}).status, kUsage)
      << "the file exists";
  const ProgramRun joined = RunMidscope({"merge", File("both.h5"), File("a.h5"), File("pi.h5")});
  ASSERT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.out, HasSubstr("settings joined"));
  // The means are computed again, with the paired difference that neither file had.
  const ProgramRun difference = RunMidscope(
      {"show", File("both.h5") + "::outcome_means/answer_nll_difference", "--slice", "place=1"});
  EXPECT_THAT(difference.out, HasSubstr("0.25"));
  EXPECT_EQ(RunMidscope({"merge", File("x.h5"), File("a.h5"), File("a.h5")}).status, kUsage);
  EXPECT_EQ(RunMidscope({"merge", File("x.h5"), File("more.h5"), File("pi.h5")}).status, kUsage);
  EXPECT_EQ(RunMidscope({"merge", File("x.h5"), File("a.h5"), File("cut.h5")}).status, 1);
}

TEST_F(ProgramStore, CompareTellsWhatDiffers) {
  ASSERT_EQ(RunMidscope({"merge", File("both.h5"), File("a.h5"), File("pi.h5")}).status, 0);
  const ProgramRun same = RunMidscope({"compare", File("a.h5"), File("a.h5")});
  ASSERT_EQ(same.status, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("no field of plan or provenance differs"));
  const ProgramRun other = RunMidscope({"compare", File("a.h5"), File("both.h5"), "--json"});
  ASSERT_EQ(other.status, 0) << other.err;
  const json compared = json::parse(other.out);
  EXPECT_TRUE(compared["different_fields"].contains("plan.settings"));
  EXPECT_EQ(compared["rows"].size(), 9U) << "3 cells of A, 6 of B";
  EXPECT_EQ(compared["rows"][1]["difference"], 0.0);
  EXPECT_EQ(compared["rows"][1]["difference_low"], 0.0) << "the same samples: paired";
  EXPECT_EQ(RunMidscope({"compare", File("a.h5")}).status, kUsage);
}

TEST_F(ProgramStore, CompareNamesWhatCannotBeCompared) {
  const ProgramRun settings = RunMidscope({"compare", File("a.h5"), File("pi.h5")});
  ASSERT_EQ(settings.status, 0) << settings.err;
  // One line reports all arrays over other settings, without differences of their elements.
  EXPECT_THAT(settings.out,
              HasSubstr("not compared, other places on axis setting (B): sweep/answer_nll"));
  const size_t line = settings.out.find("other places on axis");
  EXPECT_EQ(settings.out.find("other places on axis", line + 1), std::string::npos);
  // The option that differs is named.
  EXPECT_THAT(settings.out, ::testing::ContainsRegex("option --with +\"none\" +\"pi\\(1.5\\)\""));
  EXPECT_THAT(settings.out, Not(HasSubstr("bytes)")));
  EXPECT_THAT(settings.out, Not(HasSubstr("option --seed")));
  const json arrays =
      json::parse(RunMidscope({"compare", File("a.h5"), File("pi.h5"), "--json"}).out)["arrays"];
  for (const json& array : arrays) {
    if (array["verdict"] == "equal" || array["verdict"] == "differs") continue;
    EXPECT_EQ(array["elements"], 0) << array;
  }

  WriteSweep(File("kv.h5"), "none", 0, 0.25, "kv:pairs=10");
  const ProgramRun tasks = RunMidscope({"compare", File("a.h5"), File("kv.h5")});
  EXPECT_THAT(tasks.out,
              HasSubstr("B is not compared with A: its task is kv:pairs=10, A's is mdqa"));
  const json rows =
      json::parse(RunMidscope({"compare", File("a.h5"), File("kv.h5"), "--json"}).out)["rows"];
  ASSERT_EQ(rows.size(), 6U);
  for (const json& row : rows) EXPECT_TRUE(row["difference"].is_null()) << row;
}

TEST_F(ProgramStore, PublishedTablesAreJsonToo) {
  const ProgramRun list = RunMidscope({"compare", "--published", "list", "--json"});
  ASSERT_EQ(list.status, 0) << list.err;
  const json tables = json::parse(list.out)["published"];
  EXPECT_GT(tables.size(), 10U);
  for (const json& table : tables) EXPECT_FALSE(table["source"].get<std::string>().empty());
  const ProgramRun one = RunMidscope({"compare", "--published", "mspoe-t2-mdqa10", "--json"});
  const ProgramRun both = RunMidscope({"compare", "--published", "mspoe-t2", "--json"});
  ASSERT_EQ(both.status, 0) << one.err << both.err;
  const json table = json::parse(both.out)["published"][0];
  ASSERT_FALSE(table["rows"].empty());
  EXPECT_EQ(table["rows"][0]["cells"].size(), table["columns"].size());
  EXPECT_EQ(table["rows"][0]["values"].size(), table["columns"].size());
}

TEST_F(ProgramStore, MergeSaysWhichFileItWrites) {
  const ProgramRun merged =
      RunMidscope({"merge", File("all.h5"), File("a.h5"), File("more.h5"), "--json"});
  ASSERT_EQ(merged.status, 0) << merged.err;
  const json made = json::parse(merged.out);
  EXPECT_EQ(made["file"], File("all.h5"));
  EXPECT_EQ(made["samples"], 4);
  EXPECT_EQ(made["joined"], "samples");
  // The first name is the file to write, not an input.
  const ProgramRun exists = RunMidscope({"merge", File("a.h5"), File("more.h5")});
  EXPECT_EQ(exists.status, kUsage);
  EXPECT_THAT(exists.err, HasSubstr("a.h5, is the one to write, and it exists"));
}

TEST_F(ProgramStore, ExportTakesTheFormatFromTheName) {
  const ProgramRun unknown = RunMidscope({"export", File("a.h5"), "--out", File("a.dat")});
  EXPECT_EQ(unknown.status, kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("--format"));
  EXPECT_EQ(ReadBytes(File("a.dat")), "");
  EXPECT_EQ(RunMidscope({"export", File("a.h5"), "--out", File("a.dat"), "--format", "csv"}).status,
            0);
  EXPECT_EQ(RunMidscope({"export", File("a.h5"), "--out", File("a.png"), "--format", "csv"}).status,
            kUsage);
  const ProgramRun told = RunMidscope({"export", File("a.h5"), "--out", File("a.json"), "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(json::parse(told.out)["files"][0], File("a.json"));
  EXPECT_TRUE(json::parse(ReadBytes(File("a.json"))).contains("records"));
  EXPECT_EQ(RunMidscope({"export", File("a.h5"), "--json"}).status, kUsage);
}

TEST_F(ProgramStore, ComparePutsPublishedNumbersBesideYours) {
  EXPECT_THAT(RunMidscope({"compare", "--published", "list"}).out, HasSubstr("arXiv 2403.04797"));
  const ProgramRun run = RunMidscope({"compare", File("pi.h5"), "--published", "mspoe-t2"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("mspoe-t2-mdqa"));
  EXPECT_THAT(run.out, Not(HasSubstr("mspoe-t2-kv"))) << "the other half is of another task";
  EXPECT_THAT(run.out, HasSubstr("64.7*"));
  EXPECT_THAT(run.out, HasSubstr("  begin-of-text: "));
  EXPECT_THAT(run.out, HasSubstr("+34.8")) << "100.0 - 65.2 at place 1";
  EXPECT_THAT(run.out, HasSubstr("yours pi(1.5): as published: PI\n"));
  EXPECT_THAT(run.out,
              HasSubstr("published Ms-PoE: yours has no setting of this method (ms-poe(min=1.2"));
  // Another ratio is shown for comparison, without a difference, which would be meaningless.
  WriteSweep(File("pi2.h5"), "pi(2)", 0, 0.25);
  const ProgramRun other = RunMidscope({"compare", File("pi2.h5"), "--published", "mspoe-t2"});
  EXPECT_THAT(other.out, HasSubstr("PI (other arguments)"));
  EXPECT_THAT(other.out, HasSubstr("yours pi(2): has no counterpart; other arguments than PI, "
                                   "which is pi(1.5)"));
  EXPECT_THAT(other.out, Not(HasSubstr("yours less published")));
  const json rows =
      json::parse(RunMidscope({"compare", File("pi.h5"), "--published", "mspoe-t4", "--json"})
                      .out)["published"][0]["rows"];
  ASSERT_EQ(rows[2]["yours"].size(), 1U);
  EXPECT_EQ(rows[2]["yours"][0]["setting"], "pi(1.5)");
  EXPECT_EQ(rows[2]["yours"][0]["match"], "same");
  EXPECT_EQ(RunMidscope({"compare", File("pi.h5"), "--published", "mspoe"}).status, 0);
  EXPECT_EQ(RunMidscope({"compare", File("pi.h5"), "--published", "nothing"}).status, kUsage);
}

TEST_F(ProgramStore, ExportTakesAddressesAndSlices) {
  const ProgramRun csv = RunMidscope(
      {"export", File("a.h5") + "::sweep/answer_nll", "--slice", "sample=1", "--slice", "place=1"});
  EXPECT_EQ(csv.out, "array,sample,setting,place,value\r\nanswer_nll,1,none,1,1\r\n");
  ASSERT_EQ(RunMidscope({"export", File("a.h5"), "--out", File("a.npz")}).status, 0);
  EXPECT_EQ(ReadBytes(File("a.npz")).substr(0, 4), std::string("PK\3\4", 4));
  EXPECT_EQ(RunMidscope({"export", File("a.h5"), "--format", "npz"}).status, kUsage);
  EXPECT_EQ(RunMidscope({"export", File("a.h5"), "--format", "png"}).status, kUsage);
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Activation patching as a user runs it: whatif, sweep, scan, probe, generate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const Arguments task_arguments = {"--task", "list:lines=6", "--dtype", "float32"};
constexpr const char* kLast = "patch(from=place:1, span=last, layers=29)";

// If the last row of every layer is patched from the source, the model gives the source's answer.
TEST(ProgramPatch, SweepAndProbeTakeAnotherPlace) {
  const json sweep =
      json::parse(RunWell(With(With({"sweep", "embedded"}, task_arguments),
                               {"--places", "1,5", "--samples", "2", "--with", "none", "--with",
                                "patch(from=place:1, span=last)", "--with",
                                "patch(from=place:6, span=last)", "--json"}))
                      .out);
  const json& rows = sweep["rows"];
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_NEAR(rows[2]["answer_nll"], rows[0]["answer_nll"], 1e-4);  // patching place 1 from itself
  EXPECT_NEAR(rows[3]["answer_nll"], rows[0]["answer_nll"], 1e-4);
  EXPECT_NEAR(rows[4]["answer_nll"], rows[5]["answer_nll"], 1e-4);  // place 6 is not in the plan
  const auto nll = [&](const Arguments& more) {
    return json::parse(RunWell(With(With({"probe", "embedded", "--json"}, task_arguments), more))
                           .out)["answer_nll"]
        .get<double>();
  };
  EXPECT_NEAR(nll({"--place", "5", "--with", kLast}), nll({"--place", "1"}), 1e-4);
}

TEST(ProgramPatch, ScanPrintsWhatComesBack) {
  const Arguments scan =
      With(With({"scan", "embedded"}, task_arguments),
           {"--over", "layer_spans", "--layers", "[0,29]", "--places", "1,5", "--samples", "2"});
  const TemporaryFolder folder;
  const std::string file = folder.File("scan.h5");
  const json result = json::parse(RunWell(With(scan, {"--json", "--out", file})).out);
  ASSERT_EQ(result["mean_effects"].size(), 6u);
  const auto share = [&](const std::string& id) {
    for (const json& one : result["mean_effects"]) {
      if (one["id"] == id) return one["share"].get<double>();
    }
    ADD_FAILURE() << id;
    return 0.0;
  };
  EXPECT_NEAR(share("L29 last"), 1, 1e-3);
  EXPECT_NEAR(share("L0 last"), 0, 0.2);
  EXPECT_NEAR(share("L29 gold"), 0, 1e-3);  // no later layer reads it
  EXPECT_EQ(result["mean_effects"][1]["span"], "question");
  EXPECT_TRUE(result["effects"][0]["share"].is_null());  // place 1 is the source
  const std::string shown = RunWell({"show", file}).out;
  EXPECT_THAT(shown, HasSubstr("that comes back"));
  const json stored = json::parse(RunWell({"show", file + "::scan", "--json"}).out);
  EXPECT_THAT(stored.dump(), HasSubstr("mean_share"));
}

TEST(ProgramPatch, ScanOverHeads) {
  const json result =
      json::parse(RunWell(With(With({"scan", "embedded"}, task_arguments),
                               {"--with", "patch(from=place:1, what=z, span=last, heads={head})",
                                "--layers", "20", "--places", "5", "--samples", "2", "--json"}))
                      .out);
  ASSERT_EQ(result["mean_effects"].size(), 9u);
  EXPECT_TRUE(result["mean_effects"][0]["share"].is_number());
}

TEST(ProgramPatch, WhatIfTakesAnotherPrompt) {
  const TemporaryFolder folder;
  const std::string file = folder.File("other.txt");
  std::ofstream(file) << "The capital of Italy is";
  const std::string lines = folder.File("lines.txt");
  std::ofstream(lines) << "patch(from=source:other, span=last, layers=29)\n";
  const json row =
      json::parse(RunMidscope({"whatif", "embedded", "--prompt", "The capital of France is",
                               "--answer", " Rome", "--source-prompt-file", "other=" + file,
                               "--json", "--dtype", "float32"},
                              {.standard_input = lines})
                      .out);
  const json italy =
      json::parse(RunWell({"probe", "embedded", "--prompt", "The capital of Italy is", "--answer",
                           " Rome", "--json", "--dtype", "float32"})
                      .out);
  EXPECT_NEAR(row["answer_nll"], italy["answer_nll"], 1e-4);
  const json text =
      json::parse(RunWell({"generate", "embedded", "--prompt", "The capital of France is",
                           "--new-tokens", "1", "--source-prompt-file", "other=" + file, "--with",
                           "patch(from=source:other, span=last)", "--json", "--dtype", "float32"})
                      .out);
  EXPECT_EQ(text["text"], " Rome");
}

// A sweep stores which prompt values were taken from; with another prompt it is a different sweep.
TEST(ProgramPatch, ASweepTakesValuesFromANamedPrompt) {
  const TemporaryFolder folder;
  const std::string other = folder.File("other.txt");
  std::ofstream(other) << "Frank bought: a boat. Frank bought:";
  const std::string file = folder.File("sweep.h5");
  const Arguments sweep = {"sweep",     "embedded", "--task", "list:lines=6",
                           "--places",  "1,6",      "--with", "none",
                           "--samples", "2",        "--with", "patch(from=source:x, span=last)",
                           "--dtype",   "float32"};
  const ProgramRun unknown = RunMidscope(With(sweep, {"--out", file}));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--source-prompt-file"));
  EXPECT_FALSE(std::filesystem::exists(file));
  const Arguments whole = With(sweep, {"--out", file, "--source-prompt-file", "x=" + other});
  const json row = json::parse(RunWell(With(whole, {"--json"})).out)["rows"][2];
  EXPECT_GT(row["answer_nll_difference"], 0.1);
  Arguments more = With(whole, {"--resume"});
  more[9] = "3";
  EXPECT_THAT(RunWell(more).out, HasSubstr("3 samples"));
  std::ofstream(other) << "Another text.";
  const ProgramRun changed = RunMidscope(more);
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.err, HasSubstr("source_prompts"));
  std::ofstream(other) << "Frank bought: a boat. Frank bought:";
  const ProgramRun added =
      RunMidscope(With(sweep, {"--out", file, "--source-prompt-file", "x=" + other, "--add",
                               "--with", "patch(from=source:x, span=last, layers=3)"}));
  EXPECT_EQ(added.status, 0) << added.err;
}

TEST(ProgramPatch, SaysWhatIsMissing) {
  const ProgramRun no_task = RunMidscope(
      {"generate", "embedded", "--prompt", "Hello", "--with", "patch(from=place:1, span=last)"});
  EXPECT_EQ(no_task.status, 2);
  EXPECT_THAT(no_task.err, HasSubstr("not a task's"));
  const ProgramRun no_file =
      RunMidscope({"generate", "embedded", "--prompt", "Hello", "--source-prompt-file", "other"});
  EXPECT_EQ(no_file.status, 2);
  EXPECT_THAT(no_file.err, HasSubstr("NAME=FILE"));
  const ProgramRun unused = RunMidscope(
      {"probe", "embedded", "--prompt", "Hello", "--source-prompt-file", "other=x.txt"});
  EXPECT_EQ(unused.status, 2);
  EXPECT_THAT(unused.err, HasSubstr("no patch takes from 'other'"));
  const ProgramRun no_place = RunMidscope(
      {"probe", "embedded", "--task", "list:lines=6", "--with", "patch(from=place:60, span=last)"});
  EXPECT_EQ(no_place.status, 2);
  EXPECT_THAT(no_place.err, HasSubstr("60"));
}

}  // namespace
}  // namespace midscope

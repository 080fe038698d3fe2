// SPDX-License-Identifier: MIT
// `midscope report`: the numbers of `show` in one page that loads nothing and that no file can add
// markup to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "tests/probes/support/parsed_page.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ParsedPage;
using testing::ParsePage;
using ::testing::StartsWith;

constexpr int kRefused = 2;
constexpr int kFailure = 1;
constexpr const char* kScript = "<script>alert(1)</script>";

std::string Html(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Escaped(std::string text) {
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "&lt;");
  return text;
}

// Files are made once, by small runs of the embedded model.
class ProgramReport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder();
    Sweep("run.h5", "1");
    Sweep("other.h5", "1");
    RunWell(
        {"probe", "embedded", "--prompt", std::string("a ") + kScript, "--out", File("probe.h5")});
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }
  static void Sweep(const std::string& name, const std::string& seed) {
    RunWell({"sweep", "embedded", "--task", "list:lines=4", "--places", "1,4", "--samples", "6",
             "--seed", seed, "--with", "none", "--with", "channel(100, factor=-1, layers=8-25)",
             "--out", File(name)});
  }
  static std::string File(const std::string& name) { return folder->File(name); }

  static TemporaryFolder* folder;
};

TemporaryFolder* ProgramReport::folder = nullptr;

// Expects the page to be well-formed, and to load nothing.
ParsedPage ExpectSelfContained(const std::string& html) {
  ParsedPage page = ParsePage(html);
  EXPECT_FALSE(page.elements.contains("script"));
  EXPECT_THAT(page.attributes["src"], Each(StartsWith("data:image/svg+xml;base64,")));
  EXPECT_THAT(page.attributes["href"], Each(StartsWith("#")));
  EXPECT_THAT(html, Not(HasSubstr("http://")));
  EXPECT_THAT(html, Not(HasSubstr("https://")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  for (const char* name : {"onerror", "onload", "onclick"}) {
    EXPECT_FALSE(page.attributes.contains(name)) << name;
  }
  return page;
}

TEST_F(ProgramReport, HasTheNumbersOfShow) {
  const ProgramRun run = RunWell({"report", File("run.h5")});
  EXPECT_EQ(run.out, "file: " + File("run.html") + "\n") << "the page is beside the file";
  const std::string html = Html(File("run.html"));
  const ParsedPage page = ExpectSelfContained(html);

  const json shown = json::parse(RunWell({"show", File("run.h5"), "--json"}).out);
  for (const json& verdict : shown["sweeps"][0]["verdicts"]) {
    EXPECT_THAT(html,
                HasSubstr("<p class=\"answer\">" + verdict["setting"].get<std::string>() + ": "));
    const std::string text = Escaped(verdict["verdict"]);
    EXPECT_THAT(html, HasSubstr(text));
  }
  for (const json& row : shown["rows"]) {
    std::ostringstream cell;
    cell.precision(2);
    cell << std::fixed << row["answer_nll"].get<double>() << " ["
         << row["answer_nll_low"].get<double>() << ", " << row["answer_nll_high"].get<double>()
         << "]";
    EXPECT_THAT(html, HasSubstr("<td class=\"n\">" + cell.str() + "</td>"));
  }
  for (const json& one : shown["sweeps"][0]["comparisons"]) {
    if (one["measure"] != "answer_nll" || one["what"] != "mean") continue;
    std::ostringstream by;
    by.precision(2);
    by << std::fixed << " by " << one["difference"].get<double>() << " ["
       << one["difference_low"].get<double>() << ", " << one["difference_high"].get<double>()
       << "] nats; adjusted p ";
    EXPECT_THAT(html, HasSubstr(by.str())) << "does the setting differ";
  }
  for (const char* heading : {"Question", "Answer", "Pictures", "Tables", "Method", "Provenance",
                              "Commands", "This report"}) {
    EXPECT_THAT(html, HasSubstr(std::string("<h2>") + heading + "</h2>"));
  }
  const std::string hash = RunReader(File("run.h5")).provenance().model_hash;
  EXPECT_THAT(html, AllOf(HasSubstr(hash), HasSubstr("midscope show " + File("run.h5")),
                          HasSubstr("midscope report " + File("run.h5")),
                          HasSubstr("10000 permutations"), HasSubstr("by Student's t")));
  EXPECT_EQ(page.elements.at("caption"), page.elements.at("table"));
}

TEST_F(ProgramReport, HasPicturesOrSaysWhyNot) {
  const std::string out = File("pictures.html");
  const json report = json::parse(RunWell({"report", File("run.h5"), "--out", out, "--json"}).out);
  EXPECT_EQ(report["file"], out);
  const json& file = report["files"][0];
  EXPECT_EQ(file["file"], File("run.h5"));
  EXPECT_GE(file["answers"].size(), 3U);
  const ParsedPage page = ExpectSelfContained(Html(out));
  const int pictures = file["pictures"];
  if (pictures == 0) {
    EXPECT_THAT(page.text, HasSubstr("No pictures: "));
    return;
  }
  EXPECT_EQ(page.elements.at("img"), pictures);
  EXPECT_THAT(page.attributes.at("alt"), Contains(StartsWith("Outcome by gold place")));
}

TEST_F(ProgramReport, ComparesSeveralSweeps) {
  const std::string out = File("several.html");
  RunWell({"report", File("run.h5"), File("other.h5"), "--out", out});
  ParsedPage page = ExpectSelfContained(Html(out));
  EXPECT_THAT(page.text, AllOf(HasSubstr("Midscope report on 2 files"),
                               HasSubstr("Outcome by place in each file, and its difference to A"),
                               HasSubstr("A: run.h5"), HasSubstr("B: other.h5")));
  EXPECT_TRUE(page.attributes["id"].contains("file-2"));
  RunWell({"report", File("run.h5"), File("probe.h5"), "--out", out, "--overwrite"});
  EXPECT_THAT(ExpectSelfContained(Html(out)).text, Not(HasSubstr("files compared")));
}

TEST_F(ProgramReport, APromptIsText) {
  const std::string out = File("prompt.html");
  RunWell({"report", File("probe.h5"), "--out", out});
  const ParsedPage page = ExpectSelfContained(Html(out));
  EXPECT_THAT(page.text, AllOf(HasSubstr("a &lt;script&gt;alert(1)&lt;/script&gt;"),
                               HasSubstr("next_tokens by rank")));
}

TEST_F(ProgramReport, NoTextOfAFileIsMarkup) {
  RunFile run = ReadRecords(File("run.h5"));
  for (Record& record : run.records) {
    record.attributes["note"] = kScript;
    if (record.attributes.contains("setting_1_as_given"))
      record.attributes["setting_1_as_given"] = std::string("\"><img src=x onerror=y>") + kScript;
  }
  json plan = json::parse(run.plan_json);
  plan["task"] = std::string("list:lines=4") + kScript;
  run.provenance.command = run.provenance.model_path = kScript;
  WriteOptions options;
  options.plan_json = plan.dump();
  const std::string file = File("<img src=x>.h5");
  WriteRecords(file, run.records, run.provenance, options);

  const std::string out = File("hostile.html");
  RunWell({"report", file, "--out", out});
  const std::string html = Html(out);
  const ParsedPage page = ExpectSelfContained(html);
  EXPECT_THAT(page.text,
              AllOf(HasSubstr("&quot;&gt;&lt;img src=x onerror=y&gt;&lt;script&gt;"),
                    HasSubstr("list:lines=4&lt;script&gt;"), HasSubstr("&lt;img src=x&gt;.h5")));

  Record other;
  other.name = "other";
  other.attributes = {{"<img src=x onerror=y>", std::string(kScript)}};
  WriteRecords(File("attributes.h5"), {other}, run.provenance);
  RunWell({"report", File("attributes.h5"), "--out", out, "--overwrite"});
  EXPECT_THAT(
      ExpectSelfContained(Html(out)).text,
      AllOf(HasSubstr("&lt;img src=x onerror=y&gt; &lt;script&gt;"), HasSubstr("No pictures: ")));
}

TEST_F(ProgramReport, APageIsReplacedOnRequestAlone) {
  const std::string out = File("kept.html");
  std::ofstream(out) << "mine";
  const ProgramRun refused = RunMidscope({"report", File("run.h5"), "--out", out});
  EXPECT_EQ(refused.status, kRefused);
  EXPECT_THAT(refused.err, HasSubstr("the file exists. Give --overwrite, or another --out"));
  EXPECT_EQ(Html(out), "mine");

  const std::string results = Html(File("run.h5"));
  const ProgramRun itself =
      RunMidscope({"report", File("run.h5"), "--out", File("run.h5"), "--overwrite"});
  EXPECT_EQ(itself.status, kRefused);
  EXPECT_EQ(Html(File("run.h5")), results);

  std::string bytes = results;
  bytes.resize(bytes.size() / 2);
  std::ofstream(File("damaged.h5"), std::ios::binary) << bytes;
  for (const std::string& file : {File("damaged.h5"), File("none.h5")}) {
    const ProgramRun run =
        RunMidscope({"report", File("run.h5"), file, "--out", out, "--overwrite"});
    EXPECT_EQ(run.status, kFailure) << run.out;
    EXPECT_THAT(run.err, HasSubstr(file));
    EXPECT_EQ(Html(out), "mine");
  }
  RunWell({"report", File("probe.h5"), "--out", out, "--overwrite"});
  EXPECT_THAT(Html(out), StartsWith("<!DOCTYPE html>"));
}

}  // namespace
}  // namespace midscope

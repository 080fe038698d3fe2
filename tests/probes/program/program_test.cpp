// SPDX-License-Identifier: MIT
// The built program: its output, the files that it writes, its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/model/model_source.h"
#include "data/store/record_reader.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kTinyModel = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";
constexpr const char* kFrance = "The capital of France is";

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs the program and expects this status and a single message "midscope: ..." that contains
// `texts`.
void ExpectRefused(const std::vector<std::string>& arguments, int status,
                   const std::vector<std::string>& texts) {
  const ProgramRun run = RunMidscope(arguments);
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_EQ(run.err.rfind("midscope: ", 0), 0u) << run.err;
  EXPECT_EQ(run.out, "");
  for (const std::string& text : texts) EXPECT_THAT(run.err, HasSubstr(text));
}

TEST(Program, TellsItsVersionAndHelp) {
  const ProgramRun version = RunMidscope({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("midscope ", 0), 0u);
  for (const char* also : {"version", "-V"}) EXPECT_EQ(RunMidscope({also}).out, version.out);
  for (const char* command : {"fetch", "info", "probe", "sweep", "generate", "export"}) {
    const ProgramRun help = RunMidscope({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_EQ(help.out, RunMidscope({"help", command}).out);
  }
}

// Notes are omitted, results have the same bytes, and warnings and errors remain.
TEST(Program, QuietLeavesWarningsErrorsAndResults) {
  const std::vector<std::string> generate = {"generate", kTinyModel,     "--prompt",
                                             "a b",      "--new-tokens", "2"};
  const ProgramRun loud = RunMidscope(generate);
  EXPECT_THAT(loud.err, HasSubstr("prompt: "));
  for (const bool before : {true, false}) {
    std::vector<std::string> words = generate;
    words.insert(before ? words.begin() : words.end(), "--quiet");
    const ProgramRun quiet = RunMidscope(words);
    EXPECT_EQ(quiet.status, 0) << quiet.err;
    EXPECT_EQ(quiet.err, "");
    EXPECT_EQ(quiet.out, loud.out);
  }
  std::string long_prompt;
  for (int i = 0; i < 2000; ++i) long_prompt += "word ";
  const ProgramRun warned =
      RunMidscope({"--quiet", "probe", kTinyModel, "--prompt", long_prompt, "--beyond-context"});
  EXPECT_THAT(warned.err, HasSubstr("midscope: warning: "));
  ExpectRefused({"--quiet", "probe", "embeded", "--prompt", "x"}, 1, {"Did you mean 'embedded'?"});
  ExpectRefused({"--quiet"}, 2, {"midscope help"});
}

TEST(Program, RefusesWhatItCannotUnderstandWithStatusTwo) {
  ExpectRefused({}, 2, {"midscope help"});
  ExpectRefused({"swep"}, 2, {"'swep'", "'sweep'"});
  ExpectRefused({"sweep", "embedded", "--wiht", "none"}, 2, {"--wiht", "Did you mean --with?"});
  ExpectRefused({"probe", "embedded"}, 2, {"--prompt"});
  ExpectRefused({"probe", "embedded", "--prompt", "a", "--dtype", "float16"}, 2, {"float16"});
  ExpectRefused({"probe", "embedded", "--prompt", "a", "--prompt-file", "b"}, 2, {"both"});
  ExpectRefused({"probe", "embedded", "--prompt", "a", "--with", "none", "--with", "pi(2)"}, 2,
                {"--with", "one setting"});
  ExpectRefused({"probe", "embedded", "--prompt", "a", "--span", "gold=b"}, 2, {"gold", "occur"});
  ExpectRefused({"sweep", "embedded", "--task", "lst:lines=20"}, 2, {"lst", "list"});
  ExpectRefused({"sweep", "embedded", "--places", "1,21"}, 2, {"places", "21"});
  ExpectRefused({"help", "intervention"}, 2, {"interventions"});
}

TEST(Program, AnInterventionsTypoIsNamedByItsColumn) {
  ExpectRefused({"probe", "embedded", "--prompt", "a", "--with", "none + chanel(100, factor=-1)"},
                2, {"column", "chanel", "channel"});
  ExpectRefused({"sweep", "embedded", "--with", "channel(100, factr=-1)"}, 2, {"column 14"});
  ExpectRefused({"sweep", "embedded", "--with", "channel(576, factor=-1)"}, 2, {"576"});
}

TEST(Program, FailsWithStatusOneWhereAFileIsMissingOrDamaged) {
  const TemporaryFolder folder;
  ExpectRefused({"probe", "/nowhere/model.gguf", "--prompt", "a"}, 1, {"/nowhere/model.gguf"});
  ExpectRefused({"probe", "embedded", "--prompt-file", "/nowhere/a.txt"}, 1, {"/nowhere/a.txt"});
  ExpectRefused({"export", "/nowhere/run.h5"}, 1, {"/nowhere/run.h5"});

  const std::string model = ReadFile(ModelPath("embedded").string());
  for (const size_t bytes : {0ul, 3ul, 24ul, 5000ul, 1500000ul, model.size() - 1}) {
    const std::string cut = folder.File("cut.gguf");
    WriteFile(cut, model.substr(0, bytes));
    ExpectRefused({"info", cut}, 1, {"cut.gguf"});
  }
  WriteFile(folder.File("bad.txt"),
            "abc\xff"
            "def");
  ExpectRefused({"probe", "embedded", "--prompt-file", folder.File("bad.txt")}, 1, {"byte 3"});
  WriteFile(folder.File("no.h5"), "this is no HDF5 file");
  ExpectRefused({"export", folder.File("no.h5")}, 1, {"no.h5"});
}

TEST(Program, AnUnknownArchitectureIsNamedAndItsFactsArePrinted) {
  const TemporaryFolder folder;
  std::string model = ReadFile(ModelPath("embedded").string());
  const std::string key = "general.architecture";
  // The type and the length are between them.
  const size_t value = model.find(key) + key.size() + 4 + 8;
  ASSERT_EQ(model.substr(value, 5), "llama");
  model.replace(value, 5, "lemma");
  WriteFile(folder.File("lemma.gguf"), model);
  const ProgramRun info = RunMidscope({"info", folder.File("lemma.gguf"), "--json"});
  EXPECT_EQ(info.status, 1);
  EXPECT_THAT(info.err, HasSubstr("lemma"));
  EXPECT_EQ(json::parse(info.out)["supported"], false);
  EXPECT_EQ(json::parse(info.out)["architecture"], "lemma");
  ExpectRefused({"probe", folder.File("lemma.gguf"), "--prompt", "a"}, 1, {"lemma"});
}

TEST(Program, APromptOverTheContextIsRefusedWithItsLength) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 9000; ++i) text += " a";
  WriteFile(folder.File("long.txt"), text);
  ExpectRefused({"probe", "embedded", "--prompt-file", folder.File("long.txt")}, 2,
                {"9000", "8192"});
  ExpectRefused({"generate", "embedded", "--prompt-file", folder.File("long.txt")}, 2,
                {"9000", "8192"});
}

TEST(Program, ProbeWritesAFileAndDoesNotReplaceItUnasked) {
  const TemporaryFolder folder;
  const std::string file = folder.File("france.h5");
  const std::vector<std::string> arguments = {
      "probe",       "embedded",   "--prompt", kFrance, "--answer", " Paris", "--span",
      "gold=France", "--channels", "100,215",  "--out", file,       "--json"};
  const ProgramRun run = RunMidscope(arguments);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");  // without a terminal there is no progress output
  const json result = json::parse(run.out);
  EXPECT_EQ(result["tokens"], 5);
  EXPECT_EQ(result["file"], file);
  EXPECT_EQ(result["answer_correct"], true);
  const RunFile stored = ReadRecords(file);
  EXPECT_EQ(stored.provenance.architecture, "llama");
  EXPECT_THAT(stored.provenance.command, HasSubstr("midscope probe embedded"));
  EXPECT_EQ(json::parse(stored.provenance.options_json)["channels"], "100,215");

  ExpectRefused(arguments, 2, {file, "--overwrite"});
  std::vector<std::string> again = arguments;
  again.push_back("--overwrite");
  EXPECT_EQ(RunMidscope(again).status, 0);
}

TEST(Program, ExportGivesTheNumbersThatProbePrinted) {
  const TemporaryFolder folder;
  const std::string file = folder.File("france.h5");
  const ProgramRun probe =
      RunMidscope({"probe", "embedded", "--prompt", kFrance, "--out", file, "--json"});
  ASSERT_EQ(probe.status, 0) << probe.err;
  const double logit = json::parse(probe.out)["top"][0]["logit"];
  const ProgramRun csv = RunMidscope({"export", file, "--array", "logit"});
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_EQ(csv.out.rfind("array,rank,value", 0), 0u) << csv.out.substr(0, 80);
  const size_t begin = csv.out.find("logit,0,") + 8;
  EXPECT_NEAR(std::stod(csv.out.substr(begin)), logit, 1e-6);
  const ProgramRun whole = RunMidscope({"export", file, "--out", folder.File("france.json")});
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_GE(json::parse(ReadFile(folder.File("france.json")))["records"].size(), 6u);
  const ProgramRun all = RunMidscope({"export", file});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("last_query_attention,"));
  ExpectRefused({"export", file, "--array", "logits"}, 2, {"logits", "last_logits"});
  ExpectRefused({"export", file, "--out", folder.File("france.json")}, 2, {"--overwrite"});
}

TEST(Program, AFullDiskIsToldAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string file = folder.File("full.h5");
  const ProgramRun run = RunMidscope({"probe", "embedded", "--prompt", kFrance, "--out", file},
                                     {.file_size_limit = 65536, .standard_input = ""});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr(file));
  EXPECT_EQ(run.out, "");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(file).parent_path()));
}

TEST(Program, GenerateContinuesGreedilyAndWithinItsLimit) {
  const ProgramRun text =
      RunMidscope({"generate", "embedded", "--prompt", kFrance, "--new-tokens", "2"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out, " Paris.\n");
  const ProgramRun twice[] = {
      RunMidscope({"generate", "embedded", "--prompt", kFrance, "--new-tokens", "8",
                   "--temperature", "1", "--seed", "3", "--json"}),
      RunMidscope({"generate", "embedded", "--prompt", kFrance, "--new-tokens", "8",
                   "--temperature", "1", "--seed", "3", "--json"})};
  EXPECT_EQ(twice[0].out, twice[1].out);
  EXPECT_LE(json::parse(twice[0].out)["new_token_ids"].size(), 8u);
}

TEST(Program, PromptsComeFromStandardInputToo) {
  const TemporaryFolder folder;
  WriteFile(folder.File("prompt.txt"), kFrance);
  const ProgramRun run =
      RunMidscope({"probe", "embedded", "--prompt-file", "-", "--json"},
                  {.file_size_limit = 0, .standard_input = folder.File("prompt.txt")});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["tokens"], 5);
}

}  // namespace
}  // namespace midscope

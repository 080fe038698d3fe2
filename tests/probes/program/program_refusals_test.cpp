// SPDX-License-Identifier: MIT
// Mistakes in command lines: each is rejected with a message that names the mistake and the remedy,
// or is run with a note. Exit status 2 means wrong usage, 1 a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLlama = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";

struct Case {
  Arguments words;
  int status;
  std::string says;
};

void ExpectAllRefused(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const ProgramRun run = RunMidscope(one.words);
    const std::string line = ::testing::PrintToString(one.words);
    EXPECT_EQ(run.status, one.status) << line;
    EXPECT_THAT(run.err, HasSubstr(one.says)) << line;
    EXPECT_EQ(run.out, "") << line;
  }
}

TEST(ProgramRefusals, OptionsWithoutEffect) {
  ExpectAllRefused({
      {{"probe", kLlama, "--prompt", "x", "--chat-template", "llama2"}, 2, "chat"},
      {{"probe", kLlama, "--prompt", "x", "--place", "2"}, 2, "--task"},
      {{"probe", kLlama, "--prompt", "x", "--sample", "1"}, 2, "--task"},
      {{"probe", kLlama, "--prompt", "x", "--seed", "7"}, 2, "--task"},
      {{"probe", kLlama, "--prompt", "x", "--lens-top", "3"}, 2, "logit_lens"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--ranks", "4"}, 2, "--dry-run"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--throughput", "4"}, 2, "--dry-run"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--checkpoint", "4"}, 2, "without --out"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--overwrite"}, 2, "without --out"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--control"}, 2, "to randomise"},
      {{"probe", kLlama, "--prompt", "x", "--overwrite"}, 2, "without --out"},
      {{"curves", "no.h5", "--overwrite"}, 2, "without --out"},
      {{"generate", kLlama, "--prompt", "x", "--seed", "3"}, 2, "no effect at temperature 0"},
      {{"generate", kLlama, "--prompt", "x", "--top-k", "3"}, 2, "no effect at temperature 0"},
      {{"generate", kLlama, "--prompt", "x", "--top-p", "0.5"}, 2, "no effect at temperature 0"},
      {{"probe", kLlama, "--prompt", "x", "--source-prompt-file",
        "a=" + std::string(kLlama) + "/config.json"},
       2,
       "no patch takes from 'a'"},
      {{"channels", kLlama, "--validate", "none", "--factors", "0"}, 2, "without a validation"},
      {{"channels", kLlama, "--validate", "none", "--examples", "3"}, 2, "without a validation"},
      {{"scan", kLlama, "--task", "list:lines={size}"}, 2, "a scan has one task"},
  });
}

TEST(ProgramRefusals, WithoutAPromptAllSourcesAreNamed) {
  ExpectAllRefused({
      {{"probe", kLlama}, 2, "Give --prompt TEXT, --prompt-file FILE or --task T"},
      {{"whatif", kLlama}, 2, "Give --prompt TEXT, --prompt-file FILE or --task T"},
      {{"generate", kLlama}, 2, "Give --prompt TEXT, --prompt-file FILE or --task T"},
  });
}

// Reported immediately, and not once per sample.
TEST(ProgramRefusals, AnUnknownChatTemplateIsAUsageError) {
  ExpectAllRefused({
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--chat", "--chat-template", "vicun"},
       2,
       "'vicun': no such family, and no such file. Families: chatml"},
      {{"probe", kLlama, "--prompt", "x", "--chat", "--chat-template", "vicun"},
       2,
       "'vicun': no such family, and no such file. Families: chatml"},
  });
}

TEST(ProgramRefusals, WordsAndNumbers) {
  ExpectAllRefused({
      {{"probe", "embeded", "--prompt", "x"}, 1, "Did you mean 'embedded'?"},
      {{"probe", kLlama, "--prompt", "x", "--with", "pi(1,5)"}, 2, "with a point"},
      {{"probe", kLlama, "--prompt", "x", "--with", "PI(1.5)"}, 2, "Did you mean 'pi'?"},
      {{"sweep", kLlama, "--prompt", "x"}, 2, "no such option. midscope sweep --help"},
      {{"probe", kLlama, "--prompt", "x", "--probes", "answer"},
       2,
       "Did you mean 'answer_attribution'?"},
      {{"probe", kLlama, "--prompt", "x", "--dtype", "bfloat"}, 2, "Did you mean 'bfloat16'?"},
      {{"sweep", kLlama, "--task", "jsonl:mine.jsonl"}, 2, "file=mine.jsonl"},
      {{"probe", kLlama, "--task", "kv:pairs=2", "--place", "150%"}, 2, "from 0% to 100%"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--places", "2"}, 2, "Give 1, the only one"},
      {{"sweep", kLlama, "--task", "list:lines=2"}, 2, "such as kv:pairs=5"},
      {{"sweep", kLlama, "--task", "kv:pairs=3", "--places", "50"}, 2, "or shares such as 50%"},
      {{"sweep", kLlama, "--task", "kv:pairs=3", "--seed", "-1"},
       2,
       "Give integers >= 0, such as 0,1"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--out", ""}, 2, "option --out: it is empty"},
      {{"sweep", kLlama, "--task", "kv:pairs=1", "--places", ""}, 2, "--places: it is empty"},
      {{"probe", kLlama, "--prompt", "x", "--probes", ""}, 2, "option --probes: it is empty"},
      {{"probe", kLlama, "--prompt", "x", "--answer", ""}, 2, "option --answer: it is empty"},
      {{"probe", kLlama, "--prompt-file", "/dev/zero"}, 1, "a device, not a file"},
      {{"sweep", kLlama, "--task", "text:file=/dev/full"}, 1, "not a file"},
  });
}

TEST(ProgramRefusals, AFolderIsNoFileToWrite) {
  const TemporaryFolder folder;
  ExpectAllRefused(
      {{{"probe", kLlama, "--prompt", "x", "--out", folder.File("")}, 2, "it is a folder"}});
}

TEST(ProgramRefusals, WhatAnEditorAddsIsSaid) {
  const TemporaryFolder folder;
  const std::string file = folder.File("prompt.txt");
  std::ofstream(file) << "\xef\xbb\xbfThe key is\n";
  const ProgramRun run = RunWell({"probe", kLlama, "--prompt-file", file});
  EXPECT_THAT(run.err, HasSubstr("line end"));
  EXPECT_THAT(run.err, HasSubstr("byte-order mark"));
  EXPECT_THAT(RunWell({"probe", kLlama, "--prompt", "The key is", "--answer", "red"}).err,
              HasSubstr("without a space"));
}

TEST(ProgramHelp, TheExampleOfOwnQuestionsRuns) {
  const std::string help = RunWell({"help", "jsonl"}).out;
  EXPECT_THAT(help, HasSubstr("(answer_nll, accuracy) is that of the first"));
  const size_t begin = help.find('{');
  std::string line = help.substr(begin, help.find('}', begin) + 1 - begin);
  std::replace(line.begin(), line.end(), '\n', ' ');
  const TemporaryFolder folder;
  const std::string file = folder.File("own.jsonl");
  std::ofstream(file) << line << "\n";
  EXPECT_THAT(RunWell({"probe", "embedded", "--task", file, "--place", "3"}).out,
              HasSubstr("answer ' Ann'"));
}

}  // namespace
}  // namespace midscope

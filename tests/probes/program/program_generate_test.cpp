// SPDX-License-Identifier: MIT
// `midscope generate` with a task, passages, an answer and a file, as in probe and whatif.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const Arguments capital_of_france = {"--prompt", "The capital of France is", "--dtype", "float32"};

TEST(ProgramGenerate, AnswerAndPassageAreThoseOfProbe) {
  const Arguments more =
      With(capital_of_france, {"--answer", " Paris", "--span", "gold=France", "--with",
                               "boost(span=gold, factor=3)", "--json"});
  const json generated =
      json::parse(RunWell(With({"generate", "embedded", "--new-tokens", "2"}, more)).out);
  const json probed = json::parse(RunWell(With({"probe", "embedded"}, more)).out);
  EXPECT_EQ(generated["answer"], " Paris");
  EXPECT_NEAR(generated["answer_nll"], probed["answer_nll"], 1e-5);
  EXPECT_EQ(generated["answer_correct"], probed["answer_correct"]);
  EXPECT_EQ(generated["prompt_token_ids"], probed["token_ids"]);
}

TEST(ProgramGenerate, ATasksPromptIsThatOfProbe) {
  const Arguments task = {"--task", "list:lines=6", "--place", "4",     "--sample",
                          "2",      "--seed",       "5",       "--json"};
  const json generated = json::parse(
      RunWell(
          With({"generate", "embedded", "--new-tokens", "3", "--with", "crop(span=gold)"}, task))
          .out);
  const json probed = json::parse(RunWell(With({"probe", "embedded"}, task)).out);
  EXPECT_EQ(generated["prompt_token_ids"], probed["token_ids"]);
  EXPECT_EQ(generated["answer"], probed["answer"]);
  EXPECT_NE(generated["answer_nll"], probed["answer_nll"]);  // without the gold passage
}

TEST(ProgramGenerate, TheFileHoldsWhatIsGenerated) {
  const TemporaryFolder folder;
  const std::string file = folder.File("text.h5");
  const Arguments words =
      With(With({"generate", "embedded", "--new-tokens", "3", "--out", file}, capital_of_france),
           {"--answer", " Paris"});
  const ProgramRun run = RunWell(words);
  EXPECT_THAT(run.out, HasSubstr("\nanswer ' Paris': "));
  EXPECT_THAT(run.out, HasSubstr("\nfile: " + file + "\n"));
  EXPECT_THAT(run.err, HasSubstr("prompt: 5 tokens"));
  const std::string text = run.out.substr(0, run.out.find('\n'));
  const json whole = json::parse(RunWell({"show", file, "--json"}).out);
  EXPECT_THAT(whole.dump(), HasSubstr("new_token_probability"));
  EXPECT_THAT(RunWell({"show", file + "::generation"}).out, HasSubstr(text));
  EXPECT_EQ(RunMidscope(words).status, 2);  // the file exists
  RunWell(With(words, {"--overwrite"}));
}

TEST(ProgramGenerate, OptionsOfDrawingNeedATemperature) {
  for (const Arguments& option :
       {Arguments{"--seed", "3"}, Arguments{"--top-k", "5"}, Arguments{"--top-p", "0.9"}}) {
    const Arguments words =
        With(With({"generate", "embedded", "--new-tokens", "1"}, capital_of_france), option);
    const ProgramRun greedy = RunMidscope(words);
    EXPECT_EQ(greedy.status, 2);
    EXPECT_THAT(greedy.err, HasSubstr("--temperature"));
    RunWell(With(words, {"--temperature", "0.7"}));
  }
}

TEST(ProgramGenerate, AnOverwriteWithoutAFileHasNoEffect) {
  for (const char* command : {"generate", "probe"}) {
    const ProgramRun run =
        RunMidscope(With(With({command, "embedded"}, capital_of_france), {"--overwrite"}));
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, HasSubstr("no effect without --out"));
  }
}

}  // namespace
}  // namespace midscope

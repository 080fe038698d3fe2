// SPDX-License-Identifier: MIT
// `midscope influence` on tiny models and on the embedded model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data/store/record_reader.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string llama_folder = test::TinyModelFolder("llama");

Arguments OwnText(const std::string& model) {
  return {"influence", model,        "--prompt",         "A red bag. A blue box. The bag is",
          "--span",    "gold=A red", "--span",           "other=A blue",
          "--answer",  " red",       "--cotangent-seed", "3"};
}

TEST(ProgramInfluence, MeasuresOwnTextAndWritesAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.File("own.h5");
  const ProgramRun run = RunWell(With(OwnText(llama_folder), {"--cotangents", "2", "--out", file}));
  EXPECT_THAT(run.out, AllOf(HasSubstr("gold / distractors"), HasSubstr("90-100 %"),
                             HasSubstr("closed form: even attention"), HasSubstr("own.h5")));
  const RunReader reader(file);
  EXPECT_EQ(reader.record_names(),
            (std::vector<std::string>{"influence_by_place", "influence", "prompt"}));
  const Record by_token = reader.Read("influence");
  const auto& norms = std::get<std::vector<double>>(by_token.FindArray("answer_gradient")->data);
  const auto tokens = static_cast<size_t>(by_token.FindAxis("token")->size);
  EXPECT_EQ(norms.size(), tokens * static_cast<size_t>(by_token.FindAxis("layer")->size));
  EXPECT_GT(norms.front(), 0);
  const Record means = reader.Read("influence_by_place");
  EXPECT_EQ(AttributeText(means, "model"), "llama");
  ASSERT_NE(means.FindArray("closed_form_by_share"), nullptr);
  const auto printed =
      json::parse(RunWell(With(OwnText(llama_folder), {"--cotangents", "2", "--json"})).out);
  EXPECT_EQ(printed["rows"].size(), static_cast<size_t>(by_token.FindAxis("layer")->size));
  EXPECT_GT(printed["rows"][0]["answer_gradient_gold"], 0);
  EXPECT_GT(printed["rows"][0]["output_gradient_distractors"], 0);
  EXPECT_EQ(printed["cesaro"]["by_part"].size(), 10u);
  EXPECT_EQ(printed["shares"].size(), 100u);
  EXPECT_EQ(printed["shares"][0]["share"], 0.5);
  EXPECT_EQ(RunMidscope(With(OwnText(llama_folder), {"--out", file})).status, 2);
}

TEST(ProgramInfluence, RefusesWhatHasNoGradient) {
  const auto refusal = [](const Arguments& arguments) {
    const ProgramRun run = RunMidscope(arguments);
    EXPECT_EQ(run.status, 2);
    return run.err;
  };
  EXPECT_THAT(refusal({"influence", llama_folder, "--prompt", "A red bag"}),
              HasSubstr("--cotangents"));
  EXPECT_THAT(refusal(With(OwnText(llama_folder), {"--with", "ablate(L0H0)"})),
              HasSubstr("a pass with gradients does not support"));
  EXPECT_THAT(refusal(With(OwnText(llama_folder), {"--places", "1"})), HasSubstr("--task"));
}

TEST(ProgramInfluence, TheEmbeddedModelsAnswerDependsOnTheGold) {
  const Arguments arguments = {"--task", "list:lines=4", "--place", "4", "--json"};
  const auto trained = json::parse(RunWell(With({"influence", "embedded"}, arguments)).out);
  const auto born = json::parse(RunWell(With({"influence", "embedded@init"}, arguments)).out);
  ASSERT_EQ(trained["rows"].size(), 30u);
  EXPECT_GT(trained["rows"][0]["answer_gradient_gold_ratio"], 2);
  EXPECT_LT(born["rows"][0]["answer_gradient_gold_ratio"], 1);
}

// A scan of the last layer's heads is nearly linear.
TEST(ProgramInfluence, EstimatesTheHeadsOfAScan) {
  const TemporaryFolder folder;
  const std::string file = folder.File("scan.h5");
  RunWell({"scan", "embedded", "--task", "list:lines=4", "--places", "1,4", "--samples", "1",
           "--layers", "26-29", "--seed", "5", "--out", file});
  const ProgramRun run = RunWell({"influence", "embedded", "--scan", file});
  EXPECT_THAT(run.out, HasSubstr("correlation with the scan over 36 heads"));
  const auto heads =
      json::parse(RunWell({"influence", "embedded", "--scan", file, "--json"}).out)["heads"];
  EXPECT_EQ(heads["estimate"], "head_zero_effect");
  EXPECT_GT(heads["correlation"], 0.5);
  ASSERT_EQ(heads["heads"].size(), 36u);
  const auto& first = heads["heads"][0];
  EXPECT_GT(first["exact"].get<double>() * first["estimate"].get<double>(), 0);
  const std::string patches = folder.File("patches.h5");
  RunWell({"scan", "embedded", "--task", "list:lines=4", "--places", "4", "--samples", "1",
           "--layers", "28-29", "--with", "patch(from=place:1, what=z, span=last, heads={head})",
           "--out", patches});
  const auto patched =
      json::parse(RunWell({"influence", "embedded", "--scan", patches, "--json"}).out)["heads"];
  EXPECT_EQ(patched["estimate"], "head_patch_effect");
  EXPECT_GT(patched["correlation"], 0.5);
  for (const auto& [arguments, problem] :
       {std::pair(Arguments{"--scan", file, "--seed", "5"}, "option --seed"),
        std::pair(Arguments{"--scan", folder.File("none.h5")}, "none.h5")}) {
    const ProgramRun wrong = RunMidscope(With({"influence", "embedded"}, arguments));
    EXPECT_NE(wrong.status, 0);
    EXPECT_THAT(wrong.err, HasSubstr(problem));
  }
  // The scan of a job that shares a sweep begins with another sample.
  const std::string later = folder.File("later.h5");
  RunWell({"scan", "embedded", "--task", "list:lines=4", "--places", "4", "--sample", "2",
           "--samples", "1", "--layers", "29", "--out", later});
  const auto means = json::parse(RunWell({"influence", "embedded", "--scan", later, "--json"}).out);
  EXPECT_EQ(means["samples"], 1);
  const Arguments same = {"influence", "embedded", "--task", "list:lines=4", "--place",
                          "4",         "--sample", "2",      "--json"};
  EXPECT_EQ(means["places"], json::parse(RunWell(same).out)["places"]);
  EXPECT_THAT(RunMidscope({"influence", "embedded@init", "--scan", file}).err,
              HasSubstr("another model"));
}

}  // namespace
}  // namespace midscope

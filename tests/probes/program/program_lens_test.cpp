// SPDX-License-Identifier: MIT
// `midscope lens` on a tiny model, and the probe with its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/formats/jacobian_lens.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string lens_model = test::TinyModelFolder("llama");

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Arguments Fit(const std::string& file, const std::string& samples) {
  return {"lens",      lens_model, "--task",    "kv:pairs=5", "--tokens", "40",
          "--samples", samples,    "--threads", "1",          "--out",    file};
}

TEST(ProgramLens, ResumesToTheBitsOfOneRun) {
  const TemporaryFolder folder;
  const std::string whole = folder.File("whole.safetensors");
  const std::string parts = folder.File("parts.safetensors");
  const ProgramRun run = RunWell(Fit(whole, "3"));
  EXPECT_THAT(run.out, AllOf(HasSubstr("matrices 36 x 36 of 1 layer, mean over 3 prompts"),
                             HasSubstr("whole.safetensors")));
  EXPECT_THAT(run.err, AllOf(HasSubstr("36 backward passes each"), HasSubstr("in all")));
  RunWell(Fit(parts, "1"));
  EXPECT_THAT(RunMidscope(Fit(parts, "3")).err, HasSubstr("Give --resume"));
  const json resumed = json::parse(RunWell(With(Fit(parts, "3"), {"--resume", "--json"})).out);
  EXPECT_EQ(resumed["prompts"], 3);
  EXPECT_EQ(ContentsOf(parts), ContentsOf(whole));
  const ProgramRun other = RunMidscope(With(Fit(parts, "4"), {"--resume", "--seed", "2"}));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("it was fitted on another model, other data"));
}

TEST(ProgramLens, TakesTheFirstAndThenTheSecondPiecesOfDocuments) {
  const TemporaryFolder folder;
  std::string long_text;
  for (int word = 0; word < 60; ++word) long_text += "word ";
  std::ofstream(folder.File("text.jsonl"))
      << json{{"text", long_text}}.dump() << "\n"
      << json{{"text", "A short text of few words."}}.dump() << "\n";
  const auto fit = [&](const std::string& samples) {
    return Arguments{
        "lens",      lens_model, "--data", folder.File("text.jsonl"),    "--tokens", "30",
        "--samples", samples,    "--out",  folder.File("lens" + samples)};
  };
  RunWell(fit("3"));
  EXPECT_EQ(JacobianLensFile(folder.File("lens3")).prompts(), 3);
  const ProgramRun many = RunMidscope(fit("1000"));
  EXPECT_EQ(many.status, 1);
  EXPECT_THAT(many.err, HasSubstr("--samples is 1000"));
  EXPECT_EQ(RunMidscope({"lens", lens_model, "--out", folder.File("none")}).status, 2);
}

TEST(ProgramLens, IsReadByTheProbeByPlace) {
  const TemporaryFolder folder;
  const std::string lens = folder.File("lens.safetensors");
  RunWell(Fit(lens, "1"));
  const Arguments probe = {"probe",           lens_model, "--task",    "kv:pairs=5",
                           "--places",        "1,5",      "--samples", "2",
                           "--lens-at",       "gold",     "--probes",  "logit_lens,jacobian_lens",
                           "--beyond-context"};
  const json found = json::parse(RunWell(With(probe, {"--lens-file", lens, "--json"})).out);
  const std::string text = found.dump();
  EXPECT_THAT(text, AllOf(HasSubstr("jacobian_lens_by_place"), HasSubstr("logit_lens_by_place"),
                          HasSubstr("mean_best_row_answer_rank")));
  const ProgramRun without = RunMidscope(probe);
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("Give --lens-file"));
}

}  // namespace
}  // namespace midscope

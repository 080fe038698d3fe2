// SPDX-License-Identifier: MIT
// `midscope positions` as a user runs it: the stable JSON, files, rejected inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/positions/position_sampler.h"
#include "data/store/record_reader.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The samples that the library draws for `cream` with seed 3.
std::vector<PositionSample> Drawn(int64_t samples) {
  const PositionSampler& cream = *FindPositionSampler("cream");
  const DrawPositions draw = PreparePositions(cream, {.tokens = 96, .context = 768, .seed = 3},
                                              OptionSet(cream.parameters));
  std::vector<PositionSample> drawn;
  for (int64_t i = 0; i < samples; ++i) drawn.push_back(draw(i));
  return drawn;
}

const Arguments cream_arguments = {"positions", "cream",     "--tokens", "96",     "--context",
                                   "768",       "--samples", "3",        "--seed", "3"};

TEST(ProgramPositions, JsonIsTheContract) {
  const json result = json::parse(RunWell(With(cream_arguments, {"--json"})).out);
  ASSERT_EQ(result.size(), 1u);
  const std::vector<PositionSample> drawn = Drawn(3);
  ASSERT_EQ(result["positions"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(result["positions"][i], json(drawn[i].position_id));

  const json full =
      json::parse(RunWell({"positions", "full", "--context", "5", "--samples", "2", "--json"}).out);
  EXPECT_EQ(full, json::parse(R"({"positions": [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]})"));
  // As above, with the samples requested in two parts.
  const json last = json::parse(RunWell({"positions", "cream", "--tokens", "96", "--context", "768",
                                         "--samples", "1", "--first", "2", "--seed", "3", "--json"})
                                    .out);
  EXPECT_EQ(last["positions"][0], result["positions"][2]);
}

TEST(ProgramPositions, ATableOfSegmentsAndCoverage) {
  const ProgramRun run = RunWell({"positions", "cream", "--tokens", "32", "--context", "256", "--k",
                                  "4", "--coverage", "--beside", "pose"});
  EXPECT_THAT(run.out, HasSubstr("0-3  "));
  EXPECT_THAT(run.out, HasSubstr("P_s is 27 to 102 or 130 to 205"));
  EXPECT_THAT(run.out, HasSubstr("cream   pose"));
  const json json_run = json::parse(RunWell({"positions", "pose", "--tokens", "32", "--context",
                                             "256", "--samples", "4", "--coverage", "--json"})
                                        .out);
  EXPECT_EQ(json_run["positions"].size(), 4u);
  EXPECT_EQ(json_run["coverage"]["share"]["pose"].size(), 4u);
  EXPECT_FALSE(json_run["coverage"].contains("theorems"));
}

// A run of the public code's sampler covers about .37, .86 and 1.0. Runs differ: the first random
// choice here gives continuity, whose largest set of distances is .373; the mean over seeds is .31.
TEST(ProgramPositions, CoverageGrowsAsThePublicCodes) {
  const json run =
      json::parse(RunWell({"positions", "cream", "--tokens", "4096", "--context", "32768",
                           "--samples", "100", "--seed", "13", "--coverage", "--json"})
                      .out);
  const json& share = run["coverage"]["share"]["cream"];
  ASSERT_EQ(share.size(), 100u);
  EXPECT_NEAR(share[0].get<double>(), 0.37, 0.05);
  EXPECT_NEAR(share[9].get<double>(), 0.86, 0.05);
  EXPECT_NEAR(share[99].get<double>(), 1.0, 0.05);
}

TEST(ProgramPositions, FilesHoldIdsTokensAndProvenance) {
  const TemporaryFolder folder;
  const std::vector<PositionSample> drawn = Drawn(3);
  std::vector<int64_t> ids;
  std::vector<int64_t> tokens;
  for (const PositionSample& sample : drawn) {
    ids.insert(ids.end(), sample.position_id.begin(), sample.position_id.end());
    tokens.insert(tokens.end(), sample.token_index.begin(), sample.token_index.end());
  }

  RunWell(With(cream_arguments, {"--coverage", "--out", folder.File("p.h5")}));
  const RunReader reader(folder.File("p.h5"));
  EXPECT_EQ(std::get<std::vector<int64_t>>(reader.ReadArray("positions", "position_id").data), ids);
  EXPECT_EQ(std::get<std::vector<int64_t>>(reader.ReadArray("positions", "token_index").data),
            tokens);
  EXPECT_EQ(reader.provenance().seed, 3);
  EXPECT_EQ(json::parse(reader.provenance().options_json)["strategy"], "coin");
  EXPECT_EQ(reader.Describe("position_coverage").FindAxis("distance")->size, 768);

  RunWell(With(cream_arguments, {"--out", folder.File("p.jsonl")}));
  std::ifstream lines(folder.File("p.jsonl"));
  std::string line;
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    const json sample = json::parse(line);
    EXPECT_EQ(sample["sample"], i);
    EXPECT_EQ(sample["position_id"], json(drawn[i].position_id));
    EXPECT_EQ(sample["token_index"], json(drawn[i].token_index));
    EXPECT_EQ(sample["sampler"], "cream");
    EXPECT_EQ(sample["seed"], 3);
    EXPECT_EQ(sample["provenance"]["program"], "midscope");
  }
  EXPECT_FALSE(std::getline(lines, line));
}

// The members of an NPZ are not compressed, so an array's bytes are in the file.
TEST(ProgramPositions, NpzHoldsTheSame) {
  const TemporaryFolder folder;
  RunWell(With(cream_arguments, {"--out", folder.File("p.npz")}));
  std::ifstream file(folder.File("p.npz"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const PositionSample& sample : Drawn(3)) {
    const std::string ids(reinterpret_cast<const char*>(sample.position_id.data()), size_t{96} * 8);
    EXPECT_NE(bytes.find(ids), std::string::npos);
  }
  for (const char* name : {"position_id.npy", "token_index.npy", "seed.npy", "sampler_name.npy",
                           "options.npy", "provenance.npy"}) {
    EXPECT_THAT(bytes, HasSubstr(name));
  }
}

TEST(ProgramPositions, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  const auto refused = [](const Arguments& arguments) {
    const ProgramRun run = RunMidscope(arguments);
    EXPECT_EQ(run.status, 2);
    return run.err;
  };
  EXPECT_THAT(refused({"positions", "cream", "--context", "768"}), HasSubstr("needs it"));
  EXPECT_THAT(refused({"positions", "crem", "--context", "768"}), HasSubstr("Did you mean"));
  EXPECT_THAT(refused({"positions", "full", "--context", "8", "--tokens", "7"}),
              HasSubstr("all 8 positions"));
  EXPECT_THAT(refused(With(cream_arguments, {"--chunks", "3"})),
              HasSubstr("belongs to the sampler pose"));
  EXPECT_THAT(refused(With(cream_arguments, {"--variant", "paper", "--printed", "eq6"})),
              HasSubstr("empty at alpha = 1"));
  EXPECT_THAT(refused(With(cream_arguments, {"--beside", "pose"})), HasSubstr("--coverage"));
  EXPECT_THAT(refused(With(cream_arguments, {"--out", folder.File("p.txt")})),
              HasSubstr("p.txt' is unknown"));
  EXPECT_THAT(refused(With(cream_arguments, {"--coverage", "--out", folder.File("p.jsonl")})),
              HasSubstr("no coverage"));
  EXPECT_THAT(refused({"positions", "pose", "--tokens", "4096", "--context", "32768", "--samples",
                       "100000", "--out", folder.File("p.npz")}),
              HasSubstr("Write .jsonl"));
}

}  // namespace
}  // namespace midscope

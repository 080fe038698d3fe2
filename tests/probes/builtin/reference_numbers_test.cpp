// SPDX-License-Identifier: MIT
// The embedded model's numbers from the built program equal those of an independent implementation
// (transformers, float32, weights dequantised).
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;

json JsonTexts(const std::vector<std::string>& arguments) {
  const ProgramRun run = RunMidscope(arguments);
  EXPECT_EQ(run.status, 0) << run.err;
  return json::parse(run.out);
}

TEST(ReferenceNumbers, FranceIdsAndTopLogits) {
  const json result =
      JsonTexts({"probe", "embedded", "--prompt", "The capital of France is", "--json"});
  EXPECT_EQ(result["tokens"], 5);
  EXPECT_EQ(result["token_ids"], json({504, 3575, 282, 4649, 314}));
  const std::pair<int, double> expected[] = {{7042, 17.3713}, {260, 14.8886}, {4528, 13.2450}};
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(result["top"][rank]["id"], expected[rank].first);
    EXPECT_NEAR(result["top"][rank]["logit"].get<double>(), expected[rank].second, 2e-3);
  }
  EXPECT_EQ(result["top"][0]["text"], " Paris");
}

TEST(ReferenceNumbers, SpecialTokensAndDigits) {
  const json result =
      JsonTexts({"probe", "embedded", "--prompt", "Hello world, 123 <|im_start|>user", "--json"});
  EXPECT_EQ(result["token_ids"], json({19556, 905, 28, 216, 33, 34, 35, 216, 1, 4093}));
}

TEST(ReferenceNumbers, ModelFacts) {
  const json info = JsonTexts({"info", "embedded", "--json"});
  const json expected = {{"architecture", "llama"},
                         {"layers", 30},
                         {"heads", 9},
                         {"key_value_heads", 3},
                         {"head_dim", 64},
                         {"hidden", 576},
                         {"vocabulary", 49152},
                         {"trained_context", 8192},
                         {"rope_base", 100000.0},
                         {"quantisation", "Q4_1"},
                         {"supported", true}};
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(info[key], value) << key;
}

// One channel carries the bias: flipping its sign moves the bias from the beginning to the end.
TEST(ReferenceNumbers, TurningChannel100TurnsTheBiasOfTheListTask) {
  const std::string turned = "channel(100, factor=-1, layers=8-25)";
  const json result =
      JsonTexts({"sweep", "embedded", "--task", "list:lines=20", "--places", "1,20", "--samples",
                 "10", "--seed", "1", "--with", "none", "--with", turned, "--json"});
  std::map<std::pair<std::string, int>, double> nll;
  for (const json& row : result["rows"]) {
    EXPECT_EQ(row["samples"], 10);
    nll[{row["setting"], row["place"]}] = row["answer_nll"];
  }
  ASSERT_EQ(nll.size(), 4u);
  const double first_rises = nll[{turned, 1}] - nll[{"none", 1}];
  const double last_falls = nll[{"none", 20}] - nll[{turned, 20}];
  EXPECT_GT(first_rises, 1.5);
  EXPECT_GT(last_falls, 1.0);
  const double to_the_end = nll[{"none", 20}] - nll[{"none", 1}];
  EXPECT_GT(to_the_end, 0);
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// The reported experts of tokens equal those that transformers' routers choose (expected.json), and
// their weights to 1e-5; for a model without experts, the probe is rejected by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/decoder/decoder.h"
#include "probes/base/records.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/attribution_golden.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

Record ExpertUse(const Decoder& decoder, const std::vector<int32_t>& ids) {
  Prompt prompt;
  prompt.ids = ids;
  for (const int32_t id : ids) prompt.tokens.push_back(std::to_string(id));
  return testing::MeasureProbe(decoder, prompt, "expert_use");
}

TEST(ExpertUse, IsWhatTheRoutersOfTransformersChoose) {
  int models = 0;
  for (const std::string& name : test::TinyModelNames()) {
    std::ifstream file(test::TinyModelFolder(name) + "/expected.json");
    const Json expected = Json::parse(file);
    if (!expected.contains("experts")) continue;
    ++models;
    const auto decoder = Decoder::Open(test::TinyModelPath(name), {});
    const Record record = ExpertUse(*decoder, expected["ids"].get<std::vector<int32_t>>());
    const auto& experts = ArrayValues<int64_t>(record, "chosen_expert");
    const auto& weights = ArrayValues<float>(record, "expert_weight");
    const auto& shares = ArrayValues<double>(record, "expert_share");
    size_t at = 0;
    std::vector<double> counted(shares.size());
    const auto count = static_cast<size_t>(decoder->config().experts.count);
    for (size_t layer = 0; layer < expected["experts"].size(); ++layer) {
      for (const Json& token : expected["experts"][layer]) {
        for (const Json& choice : token) {
          ASSERT_LT(at, experts.size());
          EXPECT_EQ(experts[at], choice[0].get<int64_t>()) << name << " layer " << layer;
          EXPECT_NEAR(weights[at++], choice[1].get<float>(), 1e-5) << name << " layer " << layer;
          counted[layer * count + choice[0].get<size_t>()] +=
              1.0 / static_cast<double>(expected["ids"].size());
        }
      }
    }
    EXPECT_EQ(at, experts.size()) << name;
    for (size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], counted[i], 1e-9) << name;
  }
  EXPECT_GE(models, 10);
}

TEST(ExpertUse, IsRefusedWhereThereAreNone) {
  const auto decoder = Decoder::Open(test::TinyModelPath("llama"), {});
  try {
    ExpertUse(*decoder, {1, 2, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("expert_use"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no experts"));
  }
}

}  // namespace
}  // namespace midscope

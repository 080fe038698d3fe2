// SPDX-License-Identifier: MIT
// LongRoPE's factors from a file (schemes/long_rope.cpp). The expected numbers are calculated by
// hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/intervention/rope_schemes.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two rotated pairs.
class LongRopeFile : public ::testing::Test {
 protected:
  std::string Setting(const std::string& json, const std::string& more = "") {
    folder_.Write("rope.json", json);
    return "longrope(\"" + (folder_.path() / "rope.json").string() + "\"" + more + ")";
  }
  static ModelConfig Small() {
    ModelConfig config;
    config.layers = 2;
    config.heads = config.key_value_heads = 2;
    config.head_dim = config.rope_dimensions = 4;
    config.hidden = 8;
    config.trained_context = 4096;
    return config;
  }
  static std::vector<AttentionPlan> PlansOf(const std::string& setting, int64_t tokens) {
    return CompilePlans(ParseIntervention(setting), Small(), tokens);
  }
  test::TemporaryFolder folder_;
};

TEST_F(LongRopeFile, DividesByTheFactorsOfTheLength) {
  const std::string json =
      R"({"rope_scaling": {"short_factor": [1, 2], "long_factor": [4, 8]},
          "max_position_embeddings": 4000, "original_max_position_embeddings": 1000})";
  const std::vector<double> plain = PlainFrequencies(1e4, 4);
  const auto frequencies = [&](const std::string& setting, int64_t tokens) {
    return PlansOf(setting, tokens)[0].inverse_frequency;
  };
  EXPECT_THAT(frequencies(Setting(json), 1000), ElementsAre(plain[0], plain[1] / 2));
  EXPECT_THAT(frequencies(Setting(json), 1001), ElementsAre(plain[0] / 4, plain[1] / 8));
  EXPECT_THAT(frequencies(Setting(json, ", use=short"), 1001), ElementsAre(plain[0], plain[1] / 2));
  EXPECT_THAT(frequencies(Setting(json, ", context=500"), 600),
              ElementsAre(plain[0] / 4, plain[1] / 8));
  EXPECT_THAT(PlansOf(Setting(json), 10)[0].magnitude,
              DoubleNear(std::sqrt(1 + std::log(4.0) / std::log(1000.0)), 1e-12));
  EXPECT_EQ(PlansOf(Setting(json, ", magnitude=1.25"), 10)[0].magnitude, 1.25);
  const Intervention read = ParseIntervention(Setting(json));
  EXPECT_EQ(ParseIntervention(PrintIntervention(read)), read);
}

TEST_F(LongRopeFile, EveryArgumentIsReadAndPrinted) {
  const std::string json = R"({"short_factor": [1, 2], "long_factor": [4, 8], "factor": 3})";
  const Intervention by_default = ParseIntervention(Setting(json));
  for (const char* argument : {"context=700", "factor=5", "use=long", "magnitude=1.5"}) {
    const Intervention other = ParseIntervention(Setting(json, std::string(", ") + argument));
    EXPECT_NE(other, by_default) << argument;
    EXPECT_THAT(PrintIntervention(other), HasSubstr(argument));
    EXPECT_EQ(ParseIntervention(PrintIntervention(other)), other);
  }
  EXPECT_THAT(PrintIntervention(by_default),
              HasSubstr("context=model, factor=auto, use=auto, magnitude=auto"));
}

TEST_F(LongRopeFile, RefusesOtherFilesByName) {
  const auto refusal = [&](const std::string& json, const std::string& more = "") {
    const std::string setting = Setting(json, more);
    return test::ErrorMessage([&] { PlansOf(setting, 10); });
  };
  const std::string factors = R"({"short_factor": [1, 2], "long_factor": [4, 8])";
  EXPECT_THAT(refusal(factors + "}"), HasSubstr("neither factor nor attention_factor"));
  EXPECT_EQ(refusal(factors + "}", ", factor=4"), "");
  EXPECT_THAT(refusal(R"({"short_factor": [1, 2], "factor": 2})"), HasSubstr("same length"));
  EXPECT_THAT(refusal(R"({"short_factor": [1], "long_factor": [4], "factor": 2})"),
              HasSubstr("factors for 1 pairs"));
  EXPECT_THAT(refusal(factors + R"(, "factor": 2})", ", digest=0123456789abcdef"),
              HasSubstr("are others now"));
}

}  // namespace
}  // namespace midscope

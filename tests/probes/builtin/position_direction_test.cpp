// SPDX-License-Identifier: MIT
// The direction in which the residual stream moves with position, compared with numpy's covariance
// of transformers' hidden states (make_residual_edits_golden.py); and its file as a control vector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "data/export/export.h"
#include "probes/base/records.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/probes/support/attribution_golden.h"

namespace midscope {
namespace {

using testing::ExpectNumbers;
using ::testing::HasSubstr;
using testing::MeasureProbe;
using Json = nlohmann::json;

const Json& Drifts() {
  static const Json drifts =
      test::ReadJson(MIDSCOPE_TESTS "/core/golden/residual_edits_golden.json")["drifts"];
  return drifts;
}

Record Measure(const std::string& model) {
  Prompt prompt;
  prompt.ids = test::PromptIds(model);
  return MeasureProbe(*test::TinyDecoder(model), prompt, "position_direction");
}

TEST(PositionDirection, IsTheCovarianceWithPosition) {
  ASSERT_EQ(Drifts().size(), 5u);
  for (const auto& [model, layers] : Drifts().items()) {
    const Record record = Measure(model);
    Json directions = Json::array();
    Json slopes = Json::array();
    Json correlations = Json::array();
    for (const Json& layer : layers) {
      directions.insert(directions.end(), layer["direction"].begin(), layer["direction"].end());
      slopes.push_back(layer["slope"]);
      correlations.push_back(layer["correlation"]);
    }
    ExpectNumbers(ArrayValues<double>(record, "position_direction"), directions, 1e-5, model);
    ExpectNumbers(ArrayValues<double>(record, "position_slope"), slopes, 1e-5, model);
    ExpectNumbers(ArrayValues<double>(record, "position_correlation"), correlations, 1e-5, model);
  }
}

Record Only(const Record& record, const std::string& array) {
  Record only = record;
  std::erase_if(only.arrays, [&](const Array& other) { return other.name != array; });
  return only;
}

// Row N of the array becomes direction.N; layer 0 is omitted.
TEST(PositionDirection, IsExportedAsAControlVector) {
  const Record record = Measure("llama");
  const ControlVector vector = ControlVectorOf(Only(record, "position_direction"), "llama");
  EXPECT_EQ(vector.model_hint, "llama");
  ASSERT_EQ(vector.directions.size(), 1u);
  const auto& all = ArrayValues<double>(record, "position_direction");
  const auto& values = vector.directions.at(1);
  ASSERT_EQ(2 * values.size(), all.size());
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], static_cast<float>(all[values.size() + i]));
    squares += double{values[i]} * double{values[i]};
  }
  EXPECT_NEAR(squares, 1, 1e-6);
}

TEST(PositionDirection, ArraysThatAreNoDirectionsAreRefused) {
  const Record record = Measure("llama");
  const auto error = [](const Record& of) {
    return test::ErrorMessage([&] { ControlVectorOf(of, "llama"); });
  };
  EXPECT_THAT(error(Only(record, "position_slope")), HasSubstr("one direction a layer"));
  EXPECT_THAT(error(record), HasSubstr("not the only one"));
  Record texts = Only(record, "position_direction");
  texts.arrays[0].data = std::vector<std::string>(72, "a");
  EXPECT_THAT(error(texts), HasSubstr("must contain real numbers"));
  Record infinite = Only(record, "position_direction");
  std::get<std::vector<double>>(infinite.arrays[0].data)[40] = HUGE_VAL;
  EXPECT_THAT(error(infinite), HasSubstr("not finite"));
  Record first = Only(record, "position_direction");
  first.axes[0] = CountedAxis("layer", 1);
  std::get<std::vector<double>>(first.arrays[0].data).resize(36);
  EXPECT_THAT(error(first), HasSubstr("only layer 0"));
}

}  // namespace
}  // namespace midscope

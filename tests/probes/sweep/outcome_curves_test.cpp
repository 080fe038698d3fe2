// SPDX-License-Identifier: MIT
// Curves over a parameter, computed from settings and files whose numbers are known.
#include "probes/sweep/outcome_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;

// A sweep whose outcome is base + the index of the setting, at two places.
CurveInput InputOf(const std::string& task, const std::vector<std::string>& settings, double base,
                   double tokens) {
  CurveInput input;
  input.model = "model.gguf";
  input.prompt_tokens = tokens;
  input.plan.task = task;
  input.plan.places = {1, 5};
  for (size_t i = 0; i < settings.size(); ++i) {
    input.plan.settings.push_back(ReadSetting(settings[i]));
    SettingStatistics statistics;
    statistics.measure = "answer_nll";
    statistics.setting = i;
    statistics.mean = base + static_cast<double>(i);
    statistics.mean_interval = {statistics.mean - 0.5, statistics.mean + 0.5};
    statistics.gap = 2 * statistics.mean;
    if (i > 0) statistics.worst_place = 5;
    input.statistics.settings.push_back(statistics);
    for (const double shift : {-1.0, 1.0}) {
      CellStatistics cell;
      cell.answer_nll = statistics.mean + shift;
      input.means.push_back(cell);
    }
  }
  return input;
}

TEST(OutcomeCurves, GoOverTheArgumentInWhichSettingsDiffer) {
  const std::vector<CurveInput> inputs = {InputOf(
      "list:lines=20",
      {"none", "pi(2)", "pi(1.5)", "channel(7, factor=-1)", "channel(7, factor=0)", "pi(4)"}, 1,
      100)};
  EXPECT_THAT(CurveParameters(inputs), ElementsAre("pi.ratio", "channel.factor"));
  const Record curves = OutcomeCurves(inputs, "");
  curves.Check();
  EXPECT_EQ(std::get<std::string>(curves.attributes.at("parameter")), "pi.ratio");
  const Axis& ratio = *curves.FindAxis("pi_ratio");
  EXPECT_THAT(ratio.values, ElementsAre(1.5, 2, 4));
  // Settings without the term have the same value at every ratio.
  EXPECT_THAT(curves.FindAxis("curve")->labels,
              ElementsAre("pi", "none", "channel, channel.factor -1", "channel, channel.factor 0"));
  const auto& means = ArrayValues<double>(curves, "answer_nll_mean");
  EXPECT_EQ(std::vector<double>(means.begin(), means.begin() + 6),
            (std::vector<double>{3, 2, 6, 1, 1, 1}));
  EXPECT_EQ(ArrayValues<double>(curves, "answer_nll_mean_high")[2], 6.5);
  EXPECT_EQ(ArrayValues<double>(curves, "answer_nll_gap")[1], 4);
  EXPECT_EQ(ArrayValues<double>(curves, "answer_nll_worst_place")[0], 5);
  EXPECT_TRUE(std::isnan(ArrayValues<double>(curves, "answer_nll_worst_place")[3]));
  // [curve, ratio, place]
  EXPECT_EQ(ArrayValues<double>(curves, "answer_nll")[5], 7);
}

// Tasks by depth have ranks 1 to 101, which the sweep prints as percent.
TEST(OutcomeCurves, NamePlacesAsTheSweepPrintsThem) {
  std::vector<CurveInput> inputs = {
      InputOf("needle:tokens=100", {"none", "pi(2)", "pi(3)"}, 1, 100)};
  for (SettingStatistics& one : inputs[0].statistics.settings) one.worst_place = 101;
  inputs[0].plan.places = {1, 101};
  inputs[0].plan.place_shares = {0, 1};
  inputs[0].plan.place_texts = {"0 %", "100 %"};
  const Record curves = OutcomeCurves(inputs, "");
  const Array& worst = *curves.FindArray("answer_nll_worst_place");
  EXPECT_EQ(worst.unit, "%");
  EXPECT_EQ(std::get<std::vector<double>>(worst.data)[0], 100);
  EXPECT_THAT(curves.FindAxis("place")->labels, ElementsAre("0 %", "100 %"));
  inputs[0].plan.place_texts = {};
  EXPECT_EQ(OutcomeCurves(inputs, "").FindArray("answer_nll_worst_place")->unit, "rank");
}

TEST(OutcomeCurves, GoOverTheTaskAndItsLengthAcrossFiles) {
  const std::vector<CurveInput> inputs = {InputOf("list:lines=40", {"none", "pi(2)"}, 5, 290),
                                          InputOf("list:lines=10", {"none", "pi(2)"}, 1, 80)};
  EXPECT_THAT(CurveParameters(inputs), ElementsAre("lines", "length"));
  const Record lines = OutcomeCurves(inputs, "lines");
  EXPECT_THAT(lines.FindAxis("lines")->values, ElementsAre(10, 40));
  EXPECT_THAT(lines.FindAxis("curve")->labels, ElementsAre("none", "pi"));
  EXPECT_THAT(ArrayValues<double>(lines, "answer_nll_mean"), ElementsAre(1, 5, 2, 6));
  const Record length = OutcomeCurves(inputs, "length");
  EXPECT_THAT(length.FindAxis("length")->values, ElementsAre(80, 290));
  EXPECT_EQ(length.FindAxis("length")->unit, "tokens");
  EXPECT_EQ(ArrayValues<double>(length, "answer_nll_mean"),
            ArrayValues<double>(lines, "answer_nll_mean"));
}

// Best minus worst of a single place would be a gap of 0, as if place did not matter.
TEST(OutcomeCurves, OfOnePlaceThereIsNoGap) {
  CurveInput one = InputOf("list:lines=20", {"pi(2)", "pi(4)"}, 1, 100);
  one.plan.places = {5};
  one.means.resize(2);
  for (SettingStatistics& statistics : one.statistics.settings) statistics.gap = 0;
  const Record record = OutcomeCurves({one}, "pi.ratio");
  record.Check();
  EXPECT_THAT(ArrayValues<double>(record, "answer_nll_mean"), ElementsAre(1, 2));
  for (const char* array :
       {"answer_nll_gap", "answer_nll_gap_low", "answer_nll_gap_high", "answer_nll_worst_place"})
    EXPECT_EQ(record.FindArray(array), nullptr) << array;
  // Together with a sweep of two places.
  const CurveInput two = InputOf("list:lines=40", {"pi(2)", "pi(4)"}, 1, 200);
  const Record both = OutcomeCurves({one, two}, "pi.ratio");
  both.Check();
  const auto& gaps = ArrayValues<double>(both, "answer_nll_gap");
  ASSERT_EQ(gaps.size(), 4u);  // first list with 20 lines, then with 40
  EXPECT_TRUE(std::isnan(gaps[0]) && std::isnan(gaps[1]));
  EXPECT_EQ(gaps[2], 2);
  EXPECT_TRUE(std::isnan(ArrayValues<double>(both, "answer_nll_worst_place")[1]));
}

// Means of nats per text are not comparable between texts of different lengths.
TEST(OutcomeCurves, RunningTextHasItsPerplexityFirst) {
  std::vector<CurveInput> inputs;
  for (const double tokens : {2048.0, 512.0}) {
    CurveInput input = InputOf("text:tokens=" + std::to_string(static_cast<int>(tokens)),
                               {"none", "pi(2)"}, 1, tokens);
    input.plan.places = {1};
    SettingStatistics continued = input.statistics.settings.front();
    continued.measure = "accuracy";
    input.statistics.settings.push_back(continued);
    input.means.resize(2);
    for (CellStatistics& cell : input.means) {
      cell.perplexity = tokens + cell.answer_nll;
      cell.perplexity_interval = {cell.perplexity - 1, cell.perplexity + 2};
    }
    inputs.push_back(input);
  }
  inputs[0].means[1].perplexity = 2051;
  const Record curves = OutcomeCurves(inputs, "tokens");
  curves.Check();
  EXPECT_EQ(curves.signal, "perplexity");
  EXPECT_EQ(curves.arrays.front().name, "perplexity");
  EXPECT_THAT(ArrayValues<double>(curves, "perplexity"), ElementsAre(512, 2048, 514, 2051));
  EXPECT_THAT(ArrayValues<double>(curves, "perplexity_high"), ElementsAre(514, 2050, 516, 2052));
  EXPECT_EQ(curves.FindArray("accuracy_mean"), nullptr);
  EXPECT_NE(curves.FindArray("answer_nll_mean"), nullptr);
  // Together with another task, its accuracy is present, and no perplexity.
  CurveInput other = InputOf("list:tokens=512", {"none", "pi(2)"}, 1, 512);
  other.statistics.settings.front().measure = "accuracy";
  inputs.push_back(other);
  const Record both = OutcomeCurves(inputs, "tokens");
  both.Check();
  EXPECT_NE(both.FindArray("accuracy_mean"), nullptr);
}

TEST(OutcomeCurves, ALayerRangeIsItsFirstLayerAndOtherArgumentsSplitCurves) {
  const std::vector<CurveInput> inputs = {
      InputOf("list:lines=20",
              {"channel(7, factor=0, layers=0-7)", "channel(7, factor=0, layers=8-15)",
               "channel(7, factor=-1, layers=0-7)", "channel(7, factor=-1, layers=8-15)"},
              0, 100)};
  const Record curves = OutcomeCurves(inputs, "channel.layers");
  EXPECT_THAT(curves.FindAxis("channel_layers")->values, ElementsAre(0, 8));
  EXPECT_THAT(curves.FindAxis("curve")->labels,
              ElementsAre("channel, channel.factor 0", "channel, channel.factor -1"));
  EXPECT_THAT(ArrayValues<double>(curves, "answer_nll_mean"), ElementsAre(0, 1, 2, 3));
}

TEST(OutcomeCurves, RefuseWhatHasNoCurve) {
  EXPECT_THROW(OutcomeCurves({InputOf("list:lines=20", {"none", "pi(2)"}, 0, 9)}, ""), Error);
  EXPECT_THROW(OutcomeCurves({InputOf("list:lines=20", {"pi(1)", "pi(2)"}, 0, 9)}, "alpha"), Error);
}

}  // namespace
}  // namespace midscope

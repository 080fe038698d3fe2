// SPDX-License-Identifier: MIT
// Runs the cases of make_attribution_golden.py with the probes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/terms/intervention_text.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"
#include "tests/probes/support/open_model.h"

namespace midscope::testing {

// Logits of a full run are within 1e-4 of the largest, and attention within 1e-5. Sums of their
// products are compared with the first tolerance.
constexpr double kAttributionTolerance = 1e-4;

inline const nlohmann::json& AttributionGolden() {
  static const nlohmann::json golden = [] {
    std::ifstream file(MIDSCOPE_TESTS "/probes/golden/attribution_golden.json");
    return nlohmann::json::parse(file);
  }();
  return golden;
}

// A tiny model of tests/core/golden/tiny_models, or "embedded".
inline std::shared_ptr<const Decoder> GoldenModel(const std::string& name) {
  if (name == "embedded") return EmbeddedModel();
  static std::map<std::string, std::shared_ptr<const Decoder>> open;
  auto& decoder = open[name];
  if (!decoder) decoder = Decoder::Open(test::TinyModelPath(name), {});
  return decoder;
}

// The case's prompt with the spans gold and question, and its answer.
inline Prompt GoldenPrompt(const nlohmann::json& item) {
  Prompt prompt;
  prompt.ids = item["ids"].get<std::vector<int32_t>>();
  for (size_t i = 0; i < prompt.ids.size(); ++i) {
    prompt.tokens.push_back("t" + std::to_string(i));
    prompt.text += "x";
  }
  for (const char* name : {"gold", "question"}) {
    const int64_t begin = item[name][0];
    const int64_t end = item[name][1];
    prompt.spans.push_back({name, begin, end, begin, end});
  }
  prompt.answer = "answer";
  prompt.answer_ids = {item["answer"].get<int32_t>()};
  return prompt;
}

inline Record MeasureProbe(const Decoder& decoder, const Prompt& prompt, const std::string& probe,
                           const std::vector<std::pair<std::string, std::string>>& settings = {},
                           const std::string& with = "none") {
  const ProbeRegistry probes = BuiltInProbes();
  OptionSet options(probes.Options());
  options.SetText("probes", probe);
  for (const auto& [name, value] : settings) options.SetText(name, value);
  const std::vector<Record> records =
      RunProbes(decoder, prompt, ParseIntervention(with), probes, options);
  records.front().Check();
  EXPECT_EQ(records.front().name, probe);
  return records.front();
}

// Converts null to NaN.
inline std::vector<double> GoldenNumbers(const nlohmann::json& values) {
  std::vector<double> numbers;
  for (const nlohmann::json& value : values)
    numbers.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return numbers;
}

// `tolerance` is relative to the largest expected value; NaN must be at the same indices.
template <typename T>
void ExpectNumbers(const std::vector<T>& found, const nlohmann::json& expected, double tolerance,
                   const std::string& what) {
  const std::vector<double> numbers = GoldenNumbers(expected);
  ASSERT_EQ(found.size(), numbers.size()) << what;
  double largest = 0;
  for (const double number : numbers) {
    if (!std::isnan(number)) largest = std::max(largest, std::abs(number));
  }
  double difference = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(std::isnan(found[i]), std::isnan(numbers[i])) << what << " " << i;
    if (!std::isnan(numbers[i]))
      difference = std::max(difference, std::abs(double{found[i]} - numbers[i]));
  }
  EXPECT_LE(difference, tolerance * largest) << what;
}

}  // namespace midscope::testing

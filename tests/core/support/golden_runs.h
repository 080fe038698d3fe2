// SPDX-License-Identifier: MIT
// Golden files of edits and schemes, and runs of tiny models over the tokens of their expected.json
// followed by an answer. The same runs are made by tests/core/make/golden_runs.py.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope::test {

// Relative to the largest logit, as in families_test.
constexpr double kGoldenLogitTolerance = 1e-4;
constexpr double kGoldenAttentionTolerance = 1e-5;

inline nlohmann::json ReadJson(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return nlohmann::json::parse(file);
}

inline std::vector<int32_t> PromptIds(const std::string& model) {
  return ReadJson(TinyModelFolder(model) + "/expected.json")["ids"].get<std::vector<int32_t>>();
}

// A tiny model with one thread. It is opened once per test program for each combination of
// placement, dtype, window option and context option.
inline std::shared_ptr<const Decoder> TinyDecoder(const std::string& model,
                                                  const std::string& placement = "cpu",
                                                  DecoderOptions options = {}) {
  using Key = std::tuple<std::string, std::string, kernels::Dtype, bool, bool>;
  static std::map<Key, std::shared_ptr<const Decoder>> open;
  auto& decoder =
      open[{model, placement, options.dtype, options.sliding_window, options.beyond_context}];
  if (!decoder) {
    options.threads = 1;
    options.placement = ParsePlacement(placement);
    decoder = Decoder::Open(TinyModelFolder(model), options);
  }
  return decoder;
}

struct GoldenRun {
  RunResult result;                   // all rows
  std::vector<float> last_attention;  // [layer, head, key]
};

// Runs the prompt and `answer` in one run.
inline GoldenRun RunInFull(const Decoder& decoder, std::vector<int32_t> ids,
                           const std::vector<int32_t>& answer, const Intervention& intervention) {
  RunRequest request;
  request.prompt_tokens = static_cast<int64_t>(ids.size());
  ids.insert(ids.end(), answer.begin(), answer.end());
  LastQueryAttention attention(decoder.config());
  request.ids = ids;
  request.first_logit_row = 0;
  request.intervention = intervention;
  request.hooks = {&attention};
  GoldenRun run;
  run.result = decoder.RunOne(request);
  run.last_attention = attention.attention();
  return run;
}

// As above, for the prompt of a tiny model.
inline GoldenRun RunInFull(const Decoder& decoder, const std::string& model,
                           const std::vector<int32_t>& answer, const Intervention& intervention) {
  return RunInFull(decoder, PromptIds(model), answer, intervention);
}

// A file of tests/core/golden whose "cases" have a "model" and a "setting", and the runs of these
// cases.
class GoldenFile {
 public:
  // `options`: options for opening its models.
  explicit GoldenFile(const std::string& name, const DecoderOptions& options = {})
      : json_(ReadJson(MIDSCOPE_TESTS "/core/golden/" + name)), options_(options) {}

  const nlohmann::json& json() const { return json_; }
  const nlohmann::json& operator[](const char* key) const { return json_.at(key); }
  std::vector<int32_t> answer() const { return json_.at("answer").get<std::vector<int32_t>>(); }

  std::shared_ptr<const Decoder> Model(const std::string& model,
                                       const std::string& placement = "cpu") const {
    return TinyDecoder(model, placement, options_);
  }

  // Runs the model's prompt and the file's answer.
  GoldenRun FullRun(const std::string& model, const Intervention& intervention,
                    const std::string& placement = "cpu") const {
    return RunInFull(*Model(model, placement), model, answer(), intervention);
  }
  GoldenRun FullRun(const std::string& model, const std::string& setting,
                    const std::string& placement = "cpu") const {
    return FullRun(model, ParseIntervention(setting), placement);
  }

 private:
  nlohmann::json json_;
  DecoderOptions options_;
};

// Describes a case in a failure message: its model and setting.
inline std::string Describe(const nlohmann::json& item) {
  const nlohmann::json& setting = item.at("setting");
  return item.at("model").get<std::string>() + " " +
         (setting.is_string() ? setting.get<std::string>() : setting.dump());
}

// Compares a run with a case of a golden file: the logits of some rows, and the attention of the
// last prompt row in the last layer.
inline void ExpectGolden(const GoldenRun& run, const nlohmann::json& golden,
                         const nlohmann::json& item, const std::string& what) {
  std::vector<float> logits;
  const auto step = golden["logit_step"].get<size_t>();
  for (const auto row : golden["rows"].get<std::vector<int64_t>>()) {
    const auto all = run.result.Logits(row);
    for (size_t i = 0; i < all.size(); i += step) logits.push_back(all[i]);
  }
  const auto expected = item["logits"].get<std::vector<float>>();
  EXPECT_LE(Difference(logits, expected), kGoldenLogitTolerance * Largest(expected)) << what;
  const auto attention = item["attention"].get<std::vector<float>>();
  const std::span<const float> all = run.last_attention;
  EXPECT_LE(Difference(all.last(attention.size()), attention), kGoldenAttentionTolerance) << what;
}

// Runs the prompt in chunks that end at `ends`, then the answer token by token. Expects the last
// row of each step to equal that row of `full`.
inline void ExpectStepsEqual(const Decoder& decoder, const std::string& model,
                             const std::vector<int32_t>& answer, const Intervention& intervention,
                             const std::vector<size_t>& ends, const GoldenRun& full,
                             const std::string& what) {
  std::vector<int32_t> ids = PromptIds(model);
  const size_t prompt = ids.size();
  ids.insert(ids.end(), answer.begin(), answer.end());
  std::vector<size_t> all_ends = ends;
  for (size_t end = prompt; end <= ids.size(); ++end) all_ends.push_back(end);
  const auto trace = decoder.MakeTrace(static_cast<int64_t>(ids.size()));
  for (const size_t end : all_ends) {
    RunRequest request;
    request.ids = std::span(ids).first(end);
    request.prompt_tokens = static_cast<int64_t>(std::min(end, prompt));
    request.intervention = intervention;
    request.trace = trace.get();
    const auto row = static_cast<int64_t>(end) - 1;
    request.first_logit_row = row;
    const RunResult result = decoder.RunOne(request);
    const auto expected = full.result.Logits(row);
    EXPECT_LE(Difference(result.Logits(row), expected), kGoldenLogitTolerance * Largest(expected))
        << what << " row " << row;
  }
}

// Checks every case of a file whose settings are texts, on each placement.
inline void ExpectEveryCase(const GoldenFile& golden, const std::vector<std::string>& placements) {
  for (const std::string& placement : placements) {
    for (const nlohmann::json& item : golden["cases"]) {
      ExpectGolden(golden.FullRun(item["model"], item["setting"], placement), golden.json(), item,
                   Describe(item) + " " + placement);
    }
  }
}

// As above, but runs the prompt in one run and then the answer token by token.
inline void ExpectEveryCaseTokenByToken(const GoldenFile& golden) {
  for (const nlohmann::json& item : golden["cases"]) {
    const std::string model = item["model"];
    const std::string setting = item["setting"];
    ExpectStepsEqual(*golden.Model(model), model, golden.answer(), ParseIntervention(setting), {},
                     golden.FullRun(model, setting), Describe(item));
  }
}

// The first row whose logits differ in any bit; the number of rows if none does.
inline int64_t FirstDifferentRow(const GoldenRun& a, const GoldenRun& b) {
  const auto rows = std::ssize(a.result.logits) / a.result.vocabulary;
  int64_t row = 0;
  while (row < rows && std::ranges::equal(a.result.Logits(row), b.result.Logits(row))) ++row;
  return row;
}

// Expects a what-if's outcome for the model's prompt to equal that of a full run.
inline void ExpectOutcome(const WhatIfOutcome& outcome, const GoldenRun& full,
                          const std::string& model, const std::string& what) {
  const auto logits = full.result.Logits(static_cast<int64_t>(PromptIds(model).size()) - 1);
  EXPECT_LE(Difference(outcome.last_logits, logits), kGoldenLogitTolerance * Largest(logits))
      << what;
  EXPECT_LE(Difference(outcome.last_query_attention, full.last_attention),
            kGoldenAttentionTolerance)
      << what;
}

// Applies the settings one after another to one trace, and compares each with a full run of
// `reference`.
inline void ExpectWhatIfEqualsFullRuns(const std::shared_ptr<const Decoder>& decoder,
                                       const Decoder& reference, const std::string& model,
                                       const std::vector<int32_t>& answer,
                                       const std::vector<Intervention>& settings) {
  Prompt prompt;
  prompt.ids = PromptIds(model);
  prompt.answer_ids = answer;
  prompt.answer_ids.push_back(1);
  WhatIf what_if(decoder, {prompt});
  for (size_t i = 0; i < settings.size(); ++i) {
    ExpectOutcome(what_if.Evaluate(settings[i]).outcomes[0],
                  RunInFull(reference, model, answer, settings[i]), model,
                  model + " setting " + std::to_string(i) + " " + PrintIntervention(settings[i]));
  }
}

}  // namespace midscope::test

// SPDX-License-Identifier: MIT
// Golden files of edits and schemes, and runs of tiny models over the tokens of their expected.json
// and an answer, as the makers of these files have them (tests/core/make/golden_runs.py).
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

constexpr double kGoldenLogitTolerance = 1e-4;  // of the largest logit, as in families_test
constexpr double kGoldenAttentionTolerance = 1e-5;

inline nlohmann::json ReadJson(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return nlohmann::json::parse(file);
}

inline std::vector<int32_t> PromptIds(const std::string& model) {
  return ReadJson(TinyModelFolder(model) + "/expected.json")["ids"].get<std::vector<int32_t>>();
}

// A tiny model of one thread, opened once a test program for each placement, type of numbers,
// choice of windows and choice of context.
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

// The prompt and `answer`, in one run.
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

// As above, for a tiny model's own prompt.
inline GoldenRun RunInFull(const Decoder& decoder, const std::string& model,
                           const std::vector<int32_t>& answer, const Intervention& intervention) {
  return RunInFull(decoder, PromptIds(model), answer, intervention);
}

// A file of tests/core/golden whose "cases" have a "model" and a "setting", and its runs.
class GoldenFile {
 public:
  // `options`: how its models are opened.
  explicit GoldenFile(const std::string& name, const DecoderOptions& options = {})
      : json_(ReadJson(MIDSCOPE_TESTS "/core/golden/" + name)), options_(options) {}

  const nlohmann::json& json() const { return json_; }
  const nlohmann::json& operator[](const char* key) const { return json_.at(key); }
  std::vector<int32_t> answer() const { return json_.at("answer").get<std::vector<int32_t>>(); }

  std::shared_ptr<const Decoder> Model(const std::string& model,
                                       const std::string& placement = "cpu") const {
    return TinyDecoder(model, placement, options_);
  }

  // The model's prompt and the file's answer.
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

// The description of a failure: the case's model and setting.
inline std::string Describe(const nlohmann::json& item) {
  const nlohmann::json& setting = item.at("setting");
  return item.at("model").get<std::string>() + " " +
         (setting.is_string() ? setting.get<std::string>() : setting.dump());
}

// A case of a golden file: logits of some rows, attention of the last prompt row in the last layer.
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

// The prompt in chunks that end at `ends`, then the answer token by token: each step's last row
// equals that row of `full`.
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

// Every case of a file whose settings are texts, on each of the placements.
inline void ExpectEveryCase(const GoldenFile& golden, const std::vector<std::string>& placements) {
  for (const std::string& placement : placements) {
    for (const nlohmann::json& item : golden["cases"]) {
      ExpectGolden(golden.FullRun(item["model"], item["setting"], placement), golden.json(), item,
                   Describe(item) + " " + placement);
    }
  }
}

// As above, the prompt in one run and the answer token by token.
inline void ExpectEveryCaseTokenByToken(const GoldenFile& golden) {
  for (const nlohmann::json& item : golden["cases"]) {
    const std::string model = item["model"];
    const std::string setting = item["setting"];
    ExpectStepsEqual(*golden.Model(model), model, golden.answer(), ParseIntervention(setting), {},
                     golden.FullRun(model, setting), Describe(item));
  }
}

// The first row whose logits are not the same to the last bit; the number of rows if none is.
inline int64_t FirstDifferentRow(const GoldenRun& a, const GoldenRun& b) {
  const auto rows = std::ssize(a.result.logits) / a.result.vocabulary;
  int64_t row = 0;
  while (row < rows && std::ranges::equal(a.result.Logits(row), b.result.Logits(row))) ++row;
  return row;
}

// A what-if's outcome for the model's prompt is that of a run in full.
inline void ExpectOutcome(const WhatIfOutcome& outcome, const GoldenRun& full,
                          const std::string& model, const std::string& what) {
  const auto logits = full.result.Logits(static_cast<int64_t>(PromptIds(model).size()) - 1);
  EXPECT_LE(Difference(outcome.last_logits, logits), kGoldenLogitTolerance * Largest(logits))
      << what;
  EXPECT_LE(Difference(outcome.last_query_attention, full.last_attention),
            kGoldenAttentionTolerance)
      << what;
}

// The settings one after another on one trace, each against a run in full by `reference`.
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

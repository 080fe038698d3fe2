// SPDX-License-Identifier: MIT
// All architectures compared with transformers (float32, eager attention), on the tiny models that
// make_tiny_models.py wrote with transformers' results. Tolerances: logits 1e-4 of the largest,
// attention 1e-5, equal greedy continuations (their two best logits differ by at least 1e-3).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::Difference;
using test::Largest;
using test::TinyModelFolder;
using test::TinyModelNames;
using test::TinyModelPath;
using Json = nlohmann::json;
using Values = std::vector<float>;

constexpr double kLogitTolerance = 1e-4;  // of the largest logit
constexpr double kAttentionTolerance = 1e-5;

Values Flat(const Json& json) {
  if (!json.is_array()) return {json.get<float>()};
  Values values;
  for (const Json& item : json) {
    const Values part = Flat(item);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

int32_t Best(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

class EachFamily : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string folder = TinyModelFolder(GetParam());
    std::ifstream file(folder + "/expected.json");
    ASSERT_TRUE(file.good()) << folder;
    expected_ = Json::parse(file);
    ids_ = expected_["ids"].get<std::vector<int32_t>>();
    decoder_ = Open(kernels::Dtype::kFloat32);
  }

  std::shared_ptr<const Decoder> Open(kernels::Dtype dtype) const {
    return Decoder::Open(TinyModelPath(GetParam()), {dtype, 1});
  }

  bool HasRotary() const { return decoder_->config().positions == PositionKind::kRotary; }

  WhatIfOutcome FullRun(const std::string& setting, const std::vector<int32_t>& ids,
                        const std::vector<Hook*>& hooks = {}) const {
    LastQueryAttention attention(decoder_->config());
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = static_cast<int64_t>(ids_.size());
    request.intervention = ParseIntervention(setting);
    request.hooks = hooks;
    request.hooks.push_back(&attention);
    const RunResult result = decoder_->RunOne(request);
    WhatIfOutcome outcome;
    const auto last = result.Logits(request.prompt_tokens - 1);
    outcome.last_logits.assign(last.begin(), last.end());
    outcome.last_query_attention = attention.attention();
    outcome.position_ratio = result.position_ratio;
    return outcome;
  }

  void ExpectEqual(const WhatIfOutcome& actual, const WhatIfOutcome& expected,
                   const std::string& setting) const {
    EXPECT_EQ(actual.position_ratio.values, expected.position_ratio.values) << setting;
    EXPECT_LE(Difference(actual.last_logits, expected.last_logits),
              kLogitTolerance * Largest(expected.last_logits))
        << setting;
    EXPECT_LE(Difference(actual.last_query_attention, expected.last_query_attention),
              kAttentionTolerance)
        << setting;
  }

  void ExpectWhatIfEqualsFullRuns(const std::vector<std::string>& settings) const {
    Prompt prompt;
    prompt.ids = ids_;
    prompt.answer_ids = {1, 2, 3};
    const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
    WhatIf what_if(decoder_, {prompt});
    for (const std::string& setting : settings) {
      const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
      ExpectEqual(result.outcomes[0], FullRun(setting, ids), setting);
    }
  }

  Json expected_;
  std::vector<int32_t> ids_;
  std::shared_ptr<const Decoder> decoder_;
};

TEST_P(EachFamily, LogitsAndAttentionAreThoseOfTransformers) {
  LastQueryAttention attention(decoder_->config());
  RunRequest request;
  request.ids = ids_;
  request.first_logit_row = 0;
  request.hooks = {&attention};
  const RunResult result = decoder_->RunOne(request);
  const auto rows = expected_["rows"].get<std::vector<int64_t>>();
  ASSERT_FALSE(rows.empty());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Values logits = Flat(expected_["logits"][i]);
    EXPECT_LE(Difference(result.Logits(rows[i]), logits), kLogitTolerance * Largest(logits))
        << "row " << rows[i];
  }
  EXPECT_LE(Difference(attention.attention(), Flat(expected_["attention"])), kAttentionTolerance);
}

// Token by token on one trace; transformers ran every prefix anew.
TEST_P(EachFamily, GreedyContinuationIsThatOfTransformers) {
  const auto greedy = expected_["greedy"].get<std::vector<int32_t>>();
  std::vector<int32_t> ids = ids_;
  const auto trace = decoder_->MakeTrace(static_cast<int64_t>(ids.size() + greedy.size()));
  std::vector<int32_t> continuation;
  while (continuation.size() < greedy.size()) {
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = static_cast<int64_t>(ids_.size());
    request.trace = trace.get();
    const RunResult result = decoder_->RunOne(request);
    continuation.push_back(Best(result.Logits(static_cast<int64_t>(ids.size()) - 1)));
    ids.push_back(continuation.back());
  }
  EXPECT_EQ(continuation, greedy);
}

TEST_P(EachFamily, WhatIfEqualsAFullRun) {
  std::vector<std::string> settings = {"none",
                                       "channel(3, factor=-1)",
                                       "channel([2,7], factor=[0,2.5], layers=1-1)",
                                       "channel(5, factor=0.5, rows=last:9)",
                                       "channel(5, factor=0.5, rows=all)",
                                       "none"};
  if (HasRotary()) {
    settings.insert(settings.end(), {"pi(1.5)", "ms-poe(first_layer=0) + channel(3, factor=-1)",
                                     "ms-poe(first_layer=0) + channel(3, factor=0)",
                                     "ms-poe(order=reversed, first_layer=1)", "none"});
  }
  ExpectWhatIfEqualsFullRuns(settings);
}

// Scales one channel of what a layer's projections read, in every row.
class ScaleChannel : public Hook {
 public:
  ScaleChannel(int64_t layer, int64_t channel, float factor)
      : layer_(layer), channel_(channel), factor_(factor) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point != HookPoint{HookSite::kNormalizedAttention, layer_}) return {};
    return {HookAccess::kWrite, {0, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row)
      view.Set(0, row, channel_, 0, factor_ * view.At(0, row, channel_));
  }

 private:
  int64_t layer_;
  int64_t channel_;
  float factor_;
};

// Channel scaling updates q and k by a rank-one term (latent keys are projected anew), in a full
// run and on a trace. Projected anew from the scaled input, through the model's biases, clamps and
// norms of q and k, they give the same pattern of the layer: v, which channel scaling leaves clean,
// is not part of it.
TEST_P(EachFamily, ChannelScalingEqualsProjectingTheScaledInput) {
  int64_t layer = decoder_->config().layers - 1;
  while (!decoder_->config().HasAttention(layer)) --layer;
  ScaleChannel hook(layer, 6, -2.0f);
  const WhatIfOutcome anew = FullRun("none", ids_, {&hook});
  const std::string setting =
      "channel(6, factor=-2, layers=" + std::to_string(layer) + "-" + std::to_string(layer) + ")";
  Prompt prompt;
  prompt.ids = ids_;
  WhatIf what_if(decoder_, {prompt});
  const WhatIfOutcome clean = what_if.Evaluate({}).outcomes[0];
  const WhatIfResult on_trace = what_if.Evaluate(ParseIntervention(setting));
  EXPECT_TRUE(on_trace.last_rows_only);
  EXPECT_LE(Difference(on_trace.outcomes[0].last_query_attention, anew.last_query_attention),
            kAttentionTolerance);
  EXPECT_LE(Difference(FullRun(setting, ids_).last_query_attention, anew.last_query_attention),
            kAttentionTolerance);
  EXPECT_GT(Difference(clean.last_query_attention, anew.last_query_attention), 1e-3);
}

TEST_P(EachFamily, PositionSchemesAreTakenOrRefusedWithTheReason) {
  for (const char* setting : {"ms-poe(first_layer=0)", "pi(1.5)"}) {
    if (HasRotary()) {
      EXPECT_GT(Difference(FullRun(setting, ids_).last_logits, FullRun("none", ids_).last_logits),
                1e-3)
          << setting;
      continue;
    }
    try {
      FullRun(setting, ids_);
      FAIL() << setting << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(UnrotatedText(decoder_->config().positions)),
                std::string::npos)
          << error.what();
    }
  }
}

// Not a comparison of digits: that nothing in the path forgets the dtype.
TEST_P(EachFamily, BFloat16StaysClose) {
  const auto decoder = Open(kernels::Dtype::kBFloat16);
  RunRequest request;
  request.ids = ids_;
  const Values logits = decoder->RunOne(request).logits;
  const Values exact = decoder_->RunOne(request).logits;
  EXPECT_LE(Difference(logits, exact), 0.1 * Largest(exact));
}

INSTANTIATE_TEST_SUITE_P(Tiny, EachFamily, ::testing::ValuesIn(TinyModelNames()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Families, EveryArchitectureHasAModel) {
  const std::vector<std::string> models = TinyModelNames();
  for (const char* name : {"llama",
                           "mistral",
                           "qwen2",
                           "qwen3",
                           "gemma",
                           "gemma2",
                           "gemma3",
                           "phi3",
                           "olmo2",
                           "gpt-neox",
                           "mpt",
                           "smollm3",
                           "gemma3-pictures",
                           "mistral3",
                           "qwen2-5-vl",
                           "llama-other-head",
                           "llama-yarn-soft",
                           "olmo",
                           "olmo3",
                           "granite",
                           "cohere",
                           "cohere2",
                           "glm",
                           "glm4",
                           "starcoder2",
                           "stablelm",
                           "stablelm-parallel",
                           "phi",
                           "nemotron",
                           "seed-oss",
                           "exaone4",
                           "exaone4-global",
                           "arcee",
                           "ministral",
                           "mixtral",
                           "qwen2-moe",
                           "qwen3-moe",
                           "olmoe",
                           "glm4-moe",
                           "ernie4-5",
                           "ministral3",
                           "mistral3-ministral3",
                           "gguf-mixtral",
                           "gguf-qwen2-moe",
                           "gguf-qwen3-moe",
                           "gguf-olmoe",
                           "gguf-glm4-moe",
                           "gguf-ernie4-5",
                           "gguf-granite",
                           "gguf-cohere",
                           "gguf-cohere2",
                           "gguf-olmo",
                           "gguf-starcoder2",
                           "gguf-stablelm",
                           "gguf-stablelm-parallel",
                           "gguf-phi",
                           "gguf-nemotron",
                           "gguf-seed-oss",
                           "gguf-exaone4",
                           "gguf-arcee",
                           "gguf-glm4",
                           "gpt2",
                           "gpt2-by-layer",
                           "falcon",
                           "falcon-new",
                           "falcon-alibi",
                           "bloom",
                           "gptj",
                           "opt",
                           "opt-plain",
                           "xglm",
                           "internlm3",
                           "apertus",
                           "gguf-apertus",
                           "gguf-olmo3",
                           "gguf-glm",
                           "gguf-qwen2-5-vl",
                           "gguf-ministral3",
                           "gpt-oss",
                           "gpt-oss-mxfp4",
                           "gguf-gpt-oss",
                           "gguf-gpt-oss-mxfp4",
                           "hunyuan",
                           "hunyuan-plain",
                           "gguf-hunyuan",
                           "internlm",
                           "internlm2",
                           "gguf-internlm2",
                           "olmoe-clip",
                           "opt-350m",
                           "cohere-plus",
                           "gguf-cohere-plus",
                           "llama4",
                           "llama4-plain",
                           "llama4-pictures",
                           "gguf-llama4",
                           "deepseek-v2",
                           "deepseek-v2-groups",
                           "deepseek-v3",
                           "deepseek-v3-halves",
                           "gguf-gpt2",
                           "gguf-bloom",
                           "gguf-falcon",
                           "gguf-falcon-new",
                           "gguf-deepseek-v2",
                           "gguf-deepseek-v3",
                           "gemma4",
                           "gemma4-values",
                           "gemma4-pictures",
                           "gemma4-unified",
                           "gemma4-shared",
                           "gemma4-shared-pictures",
                           "gemma4-experts",
                           "gguf-gemma4-q8_0",
                           "gguf-gemma4-experts",
                           "gpt-neo",
                           "gpt-bigcode",
                           "gpt-bigcode-heads",
                           "gguf-gpt-bigcode",
                           "qwen3-next",
                           "qwen3-5",
                           "qwen3-5-moe",
                           "qwen3-5-pictures",
                           "gguf-qwen3-next",
                           "gguf-qwen3-5",
                           "gguf-qwen3-5-moe",
                           "qwen3-vl",
                           "qwen3-vl-moe",
                           "ernie4-5-moe",
                           "dots1",
                           "minimax-m2",
                           "hunyuan-moe",
                           "glm4-moe-lite",
                           "gguf-ernie4-5-moe",
                           "gguf-dots1",
                           "gguf-minimax-m2",
                           "gguf-hunyuan-moe",
                           "gguf-glm4-moe-lite",
                           "llava",
                           "smolvlm",
                           "internvl",
                           "qwen2-vl",
                           "granitemoe",
                           "granitemoeshared",
                           "gguf-granitemoe",
                           "gguf-granitemoeshared",
                           "afmoe",
                           "gguf-afmoe",
                           "vaultgemma",
                           "flex-olmo",
                           "jais2",
                           "glm4v",
                           "exaone",
                           "gguf-exaone",
                           "gguf-jais2",
                           "cwm",
                           "exaone-moe",
                           "gguf-exaone-moe",
                           "exaone4-5",
                           "solar-open",
                           "hyperclovax",
                           "mellum",
                           "youtu",
                           "mistral4",
                           "phimoe",
                           "bamba",
                           "falcon-h1",
                           "falcon-h1-norm",
                           "gguf-falcon-h1",
                           "gguf-qwen3-vl",
                           "gguf-qwen3-vl-moe",
                           "lfm2",
                           "lfm2-moe",
                           "lfm2-pictures",
                           "gguf-lfm2",
                           "gguf-lfm2-moe",
                           "granite-hybrid",
                           "granite-hybrid-experts",
                           "gguf-granite-hybrid",
                           "gguf-granite-hybrid-experts",
                           "nemotron-h",
                           "nemotron-h-experts",
                           "gguf-nemotron-h",
                           "gguf-nemotron-h-experts"}) {
    EXPECT_TRUE(std::find(models.begin(), models.end(), name) != models.end()) << name;
  }
}

// Against transformers with the models' windows taken away (make_window_golden.py).
TEST(Families, WithoutTheirWindowsModelsSeeAllKeysAsInTransformers) {
  std::ifstream file(MIDSCOPE_TESTS "/core/golden/window_off_golden.json");
  const Json golden = Json::parse(file);
  ASSERT_EQ(golden.size(), 3u);
  for (const auto& [name, expected] : golden.items()) {
    std::ifstream prompt(TinyModelFolder(name) + "/expected.json");
    RunRequest request;
    const auto ids = Json::parse(prompt)["ids"].get<std::vector<int32_t>>();
    request.ids = ids;
    Values attention[2];
    for (const bool window : {true, false}) {
      const auto decoder =
          Decoder::Open(TinyModelFolder(name), {kernels::Dtype::kFloat32, 1, window});
      LastQueryAttention last(decoder->config());
      request.hooks = {&last};
      const RunResult result = decoder->RunOne(request);
      attention[window] = last.attention();
      if (window) continue;
      const Values logits = Flat(expected["logits"]);
      EXPECT_LE(Difference(result.logits, logits), kLogitTolerance * Largest(logits)) << name;
      EXPECT_LE(Difference(last.attention(), Flat(expected["attention"])), kAttentionTolerance)
          << name;
    }
    EXPECT_GT(Difference(attention[false], attention[true]), 1e-2) << name;
  }
}

TEST(Families, SaysWhereThereIsNoWindowToSwitchOff) {
  std::string messages;
  JobContext context;
  context.log = [&](const std::string& message) { messages += message; };
  Decoder::Open(TinyModelFolder("qwen3"), {kernels::Dtype::kFloat32, 1, false}, context);
  EXPECT_NE(messages.find("nothing to switch off"), std::string::npos) << messages;
}

// Where frequencies depend on the length, a trace from below the threshold cannot be used above it.
TEST(Families, ContinuationsAcrossTheOriginalContextEqualFullRuns) {
  for (const char* name : {"phi3", "llama-dynamic"}) {
    const auto decoder = Decoder::Open(TinyModelFolder(name), {kernels::Dtype::kFloat32, 1});
    const ModelConfig& config = decoder->config();
    const auto threshold = static_cast<int64_t>(config.rope_scaling.original_context > 0
                                                    ? config.rope_scaling.original_context
                                                    : static_cast<double>(config.trained_context));
    ASSERT_GE(config.trained_context, threshold + 3) << name;
    const auto trace = decoder->MakeTrace(threshold + 3);
    std::vector<int32_t> ids = test::SomeTinyIds(threshold - 2);
    for (int step = 0; step < 5; ++step) {
      RunRequest request;
      request.ids = ids;
      request.prompt_tokens = threshold - 2;
      request.first_logit_row = static_cast<int64_t>(ids.size()) - 1;
      const Values full = decoder->RunOne(request).logits;
      request.trace = trace.get();
      EXPECT_LE(Difference(decoder->RunOne(request).logits, full), kLogitTolerance * Largest(full))
          << name << " " << ids.size();
      ids.push_back(Best(full));
    }
  }
}

}  // namespace
}  // namespace midscope

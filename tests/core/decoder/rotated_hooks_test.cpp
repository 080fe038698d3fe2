// SPDX-License-Identifier: MIT
// hook_rot_q and hook_rot_k: the softmax of their products equals the last prompt query's attention
// pattern from the kernels, for every position scheme; these hooks cannot change values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr int64_t kTokens = 60;
constexpr int64_t kAnswer = 3;
constexpr double kRotatedTolerance = 1e-5;

// [layer]: rotated q of the last prompt row, rotated k of all rows.
class RotatedRows : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const int64_t last = sequence.prompt_tokens - 1;
    if (point.site == HookSite::kRotatedQuery) return {HookAccess::kRead, {last, last + 1}};
    if (point.site == HookSite::kRotatedKey) return {HookAccess::kRead, {0, sequence.rows}};
    return {};
  }
  void OnActivation(HookView& view) override {
    auto& to =
        view.point.site == HookSite::kRotatedQuery ? q[view.point.layer] : k[view.point.layer];
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t head = 0; head < view.shape[2]; ++head) {
        for (int64_t i = 0; i < view.shape[3]; ++i) to.push_back(view.At(0, row, head, i));
      }
    }
  }
  std::map<int64_t, std::vector<float>> q;
  std::map<int64_t, std::vector<float>> k;
};

std::vector<double> Softmax(std::vector<double> logits) {
  double sum = 0;
  for (double& logit : logits) sum += logit = std::exp(logit);
  for (double& logit : logits) logit /= sum;
  return logits;
}

std::vector<int32_t> Ids(int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < kTokens + kAnswer; ++i)
    ids.push_back(static_cast<int32_t>((i * i * 7 + 3 * i + 1) % vocabulary));
  return ids;
}

// Largest difference of the pattern and the softmax of products.
double Difference(const Decoder& decoder, const std::string& setting) {
  const ModelConfig& config = decoder.config();
  const std::vector<int32_t> ids = Ids(config.vocabulary);
  RotatedRows rotated;
  LastQueryAttention pattern(config);
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = kTokens;
  request.intervention = ParseIntervention(setting);
  request.hooks = {&rotated, &pattern};
  decoder.RunOne(request);
  const auto plans = CompilePlans(request.intervention, config, kTokens, kTokens + kAnswer);
  double difference = 0;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (!config.HasAttention(layer)) continue;
    const AttentionPlan& plan = plans[static_cast<size_t>(layer)];
    const int64_t head_dim = config.HeadDim(layer);
    EXPECT_EQ(rotated.k[layer].size(),
              static_cast<size_t>((kTokens + kAnswer) * config.heads * head_dim));
    for (int64_t head = 0; head < config.heads; ++head) {
      int64_t first = plan.window > 0 ? std::max<int64_t>(kTokens - plan.window, 0) : 0;
      if (plan.chunk > 0) first = (kTokens - 1) / plan.chunk * plan.chunk;
      std::vector<double> logits;
      for (int64_t key = first; key < kTokens; ++key) {
        double product = 0;
        for (int64_t i = 0; i < head_dim; ++i) {
          product +=
              double{rotated.q[layer][static_cast<size_t>(head * head_dim + i)]} *
              rotated.k[layer][static_cast<size_t>((key * config.heads + head) * head_dim + i)];
        }
        product *= plan.logit_scale;
        if (plan.softcap > 0) product = plan.softcap * std::tanh(product / plan.softcap);
        if (!plan.alibi_slopes.empty())
          product += plan.alibi_slopes[static_cast<size_t>(head)] * static_cast<double>(key);
        logits.push_back(product);
      }
      const std::vector<double> weights = Softmax(logits);
      // Learned sinks take their share of the pattern.
      const auto row = pattern.Row(layer, head);
      const double seen = config.attention_sinks ? std::accumulate(row.begin(), row.end(), 0.0) : 1;
      for (int64_t key = first; key < kTokens; ++key) {
        difference =
            std::max(difference, std::abs(weights[static_cast<size_t>(key - first)] * seen -
                                          row[static_cast<size_t>(key)]));
      }
    }
  }
  return difference;
}

TEST(RotatedHooks, ProductsGiveThePatternOfEveryFamily) {
  for (const std::string& name : test::TinyModelNames()) {
    DecoderOptions options;
    options.beyond_context = true;  // some are trained on fewer tokens
    const auto decoder = Decoder::Open(test::TinyModelPath(name), options);
    EXPECT_LE(Difference(*decoder, "none"), kRotatedTolerance) << name;
  }
}

TEST(RotatedHooks, ProductsGiveThePatternUnderSchemesAndEdits) {
  for (const char* model : {"llama", "qwen3", "olmo2", "gpt-neox"}) {
    const auto decoder = Decoder::Open(test::TinyModelPath(model), {});
    for (const char* setting :
         {"pi(2)", "self-extend(group=4, window=16)",
          "self-extend(group=3, window=8, scale_base=20)", "ms-poe(first_layer=0, mode=code)",
          "ms-poe(first_layer=0, mode=rank)", "nope(layers=0)", "move(span=10:20, to=shift:7)",
          "channel(3, factor=-1)", "channel(3, factor=2, rows=last)"}) {
      EXPECT_LE(Difference(*decoder, setting), kRotatedTolerance) << model << " " << setting;
    }
  }
}

class Writer : public Hook {
 public:
  explicit Writer(HookSite site) : site_(site) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != site_) return {};
    return {HookAccess::kWrite, {0, sequence.rows}};
  }
  void OnActivation(HookView&) override { FAIL(); }

 private:
  HookSite site_;
};

TEST(RotatedHooks, CannotBeChanged) {
  const auto decoder = Decoder::Open(test::TinyModelPath("llama"), {});
  const std::vector<int32_t> ids = Ids(decoder->config().vocabulary);
  for (const HookSite site : {HookSite::kRotatedQuery, HookSite::kRotatedKey}) {
    Writer writer(site);
    RunRequest request;
    request.ids = ids;
    request.hooks = {&writer};
    EXPECT_THROW(decoder->RunOne(request), Error);
  }
}

// A layer alone, on a trace, shows what the whole run shows, and leaves the trace as it was.
TEST(RotatedHooks, ARerunThatEndsEarlyRunsOneLayer) {
  const auto decoder = Decoder::Open(test::TinyModelPath("gemma3"), {});
  const int64_t layers = decoder->config().layers;
  const std::vector<int32_t> ids = Ids(decoder->config().vocabulary);
  const auto trace = decoder->MakeTrace(static_cast<int64_t>(ids.size()));
  LastQueryAttention whole(decoder->config());
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = kTokens;
  request.intervention = ParseIntervention("ms-poe(first_layer=0)");
  request.hooks = {&whole};
  request.trace = trace.get();
  decoder->RunOne(request);
  const std::vector<float> before = trace->Channel(layers, 5);
  const auto plans = trace->plans();
  for (int64_t layer = layers - 1; layer >= 0; --layer) {
    LastQueryAttention alone(decoder->config());
    request.hooks = {&alone};
    RunRequest::Rerun rerun;
    rerun.first_row.assign(static_cast<size_t>(layers), 0);
    for (int64_t below = 0; below < layer; ++below)
      rerun.first_row[static_cast<size_t>(below)] = static_cast<int64_t>(ids.size());
    rerun.end_layer = layer + 1;
    request.rerun = std::move(rerun);
    EXPECT_EQ(decoder->RunOne(request).logits.empty(), layer + 1 < layers);
    for (int64_t head = 0; head < decoder->config().heads; ++head) {
      for (int64_t other = 0; other < layers; ++other) {
        for (int64_t key = 0; key < kTokens; ++key) {
          const float expected =
              other == layer ? whole.Row(layer, head)[static_cast<size_t>(key)] : 0.0f;
          EXPECT_NEAR(alone.Row(other, head)[static_cast<size_t>(key)], expected, 1e-7);
        }
      }
    }
  }
  EXPECT_EQ(trace->Channel(layers, 5), before);
  EXPECT_EQ(trace->plans(), plans);
  EXPECT_EQ(trace->rows(), static_cast<int64_t>(ids.size()));
}

}  // namespace
}  // namespace midscope

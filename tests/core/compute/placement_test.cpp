// SPDX-License-Identifier: MIT
// Placements: their text form, and that results do not depend on where layers run.
//
// Contract (float32, tiny models of every family): with `cpu:portable`, and with placements that
// change device between layers, logits agree with the kernels' to 2e-5 of the largest, attention to
// 8e-6, hook points to 2e-5 of their largest value; attended keys, position ratios and greedy
// continuations are equal. `cpu,cpu` is equal to the last bit. Without a second kind of device,
// this shows that rows are moved and that hooks receive and return copies; layer_ops_test checks
// that no tensor stays in host memory.

#include "core/compute/placement.h"
#include "core/compute/device_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::Difference;
using test::ErrorMessage;
using test::Largest;
using test::TinyModelNames;
using test::TinyModelPath;
using ::testing::HasSubstr;
using Numbers = std::vector<float>;

constexpr double kPlacementTolerance = 2e-5;  // of the largest
constexpr double kPlacementAttentionTolerance = 8e-6;

TEST(PlacementText, ReadsBackWhatItPrints) {
  for (const char* text : {"cpu", "cpu:portable", "cuda:0", "cuda:0,cuda:1,cpu", "cuda:0=20,cpu=12",
                           "cpu=3,cpu:portable", "cpu,cpu"}) {
    EXPECT_EQ(PrintPlacement(ParsePlacement(text)), text);
  }
  EXPECT_EQ(PrintPlacement(ParsePlacement(" cuda = 2 , cpu ")), "cuda:0=2,cpu");
  EXPECT_EQ(ParsePlacement("cpu"), Placement());
  EXPECT_TRUE(ParsePlacement("cpu,cpu").IsPlainCpu());
  EXPECT_FALSE(ParsePlacement("cpu,cpu:portable").IsPlainCpu());
}

TEST(PlacementText, RefusesWhatItCannotRead) {
  for (const char* text :
       {"", "gpu", "cpu:", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "cuda:128",
        "cuda:1000000000000000000000", "cpu,", ",cpu", "cpu;cpu", "CPU", "cpu:portable:0"}) {
    const std::string message = ErrorMessage([&] { ParsePlacement(text); });
    EXPECT_THAT(message, HasSubstr("no such device")) << text;
    EXPECT_THAT(message, HasSubstr("cpu:portable")) << text;
  }
  for (const char* text : {"cpu=", "cpu=0", "cpu=-1", "cpu=x", "cpu=1.5", "cpu=1=2", "cpu=1025"}) {
    EXPECT_THAT(ErrorMessage([&] { ParsePlacement(text); }), HasSubstr("is not a number of layers"))
        << text;
  }
}

TEST(PlacementText, LayersAreSharedOutEvenlyButForCounts) {
  const auto filled = [](const char* text, int64_t layers) {
    return PrintPlacement(FillLayers(ParsePlacement(text), layers));
  };
  EXPECT_EQ(filled("cpu", 30), "cpu=30");
  EXPECT_EQ(filled("cuda:0,cuda:1,cpu", 32), "cuda:0=11,cuda:1=11,cpu=10");
  EXPECT_EQ(filled("cuda:0=20,cpu", 32), "cuda:0=20,cpu=12");
  EXPECT_EQ(filled("cuda:0=20,cpu=12", 32), "cuda:0=20,cpu=12");
  EXPECT_EQ(filled("cpu,cuda:0=1,cpu", 4), "cpu=2,cuda:0=1,cpu=1");
  for (const char* text : {"cpu,cpu,cpu", "cpu=2,cpu", "cpu=3,cpu"}) {
    EXPECT_THAT(ErrorMessage([&] { filled(text, 2); }), HasSubstr("the model has 2 layers"))
        << text;
  }
  for (const char* text : {"cpu=1", "cpu=2,cpu=1"}) {
    EXPECT_THAT(ErrorMessage([&] { filled(text, 2); }), HasSubstr("add up to")) << text;
  }
}

TEST(PlacementText, ADeviceThatIsNotThereIsNamedWithTheRemedy) {
  const std::vector<DeviceName> devices = AvailableDevices();
  EXPECT_EQ(devices[0], DeviceName());
  EXPECT_NO_THROW(CheckDevices(ParsePlacement("cpu,cpu:portable")));
  const std::string message = ErrorMessage([] { CheckDevices(ParsePlacement("cpu,cuda:127")); });
  EXPECT_THAT(message, HasSubstr("device cuda:127"));
  EXPECT_THAT(message, HasSubstr("Devices here: cpu, cpu:portable"));
  DecoderOptions options;
  options.placement = ParsePlacement("cuda:127");
  EXPECT_THROW(Decoder::Open("no such file", options), Error);
}

// Reads every point in some rows, or sets one element at one point (to a value that mpt does not
// clamp).
class Everything : public Hook {
 public:
  explicit Everything(std::optional<HookPoint> write = {}) : write_(write) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (write_ && point != *write_) return {};
    return {write_ ? HookAccess::kWrite : HookAccess::kRead,
            {sequence.rows - 7, sequence.rows - 1}};
  }
  void OnActivation(HookView& view) override {
    Numbers& seen = points[HookName(view.point)];
    for (int64_t b = 0; b < view.shape[1]; ++b) {
      for (int64_t c = 0; c < view.shape[2]; ++c) {
        for (int64_t d = 0; d < view.shape[3]; ++d) seen.push_back(view.At(0, b, c, d));
      }
    }
    if (!write_) return;
    // The last number of a row: of latent attention the first ones of values and z are not used. Of
    // two rows: the query of one that begins a chunk does not matter.
    for (int64_t b = std::max<int64_t>(view.shape[1] - 2, 0); b < view.shape[1]; ++b)
      view.Set(0, b, 0, view.shape[3] - 1, 0.1f);
  }
  std::map<std::string, Numbers> points;

 private:
  std::optional<HookPoint> write_;
};

struct PlacedOutcome {
  Numbers logits;
  Numbers attention;
  std::vector<int64_t> attended_keys;
  std::vector<double> ratios;
};

class Placed : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    kernels_ = Open("cpu");
    ids_ = test::SomeTinyIds(kTokens);
    for (const char* text : {"cpu:portable", "cpu,cpu:portable", "cpu:portable=1,cpu"})
      placed_[text] = Open(text);
  }

  std::shared_ptr<const Decoder> Open(const std::string& placement,
                                      kernels::Dtype dtype = kernels::Dtype::kFloat32) const {
    return Decoder::Open(TinyModelPath(GetParam()),
                         {.dtype = dtype, .threads = 1, .placement = ParsePlacement(placement)});
  }

  std::vector<std::string> Settings() const {
    std::vector<std::string> settings = {"none", "channel(3, factor=-1)",
                                         "channel([2,7], factor=[0,2.5], layers=1-1)",
                                         "channel(5, factor=0.5, rows=last:9)"};
    if (kernels_->config().positions == PositionKind::kRotary) {
      settings.insert(settings.end(), {"pi(1.5)", "ms-poe(first_layer=0) + channel(3, factor=-1)",
                                       "ms-poe(mode=code, first_layer=1)",
                                       "ms-poe(order=reversed, first_layer=0)", "none"});
    }
    return settings;
  }

  PlacedOutcome Run(const Decoder& decoder, const std::string& setting,
                    Hook* hook = nullptr) const {
    LastQueryAttention attention(decoder.config());
    PositionAwareness awareness(decoder.config());
    RunRequest request;
    request.ids = ids_;
    request.prompt_tokens = kTokens - 3;
    request.first_logit_row = 0;
    request.intervention = ParseIntervention(setting);
    request.hooks = {&attention, &awareness};
    if (hook) request.hooks.push_back(hook);
    RunResult result = decoder.RunOne(request);
    return {std::move(result.logits), attention.attention(), awareness.attended_keys(),
            std::move(result.position_ratio.values)};
  }

  static void ExpectEqual(const PlacedOutcome& actual, const PlacedOutcome& expected,
                          const std::string& what) {
    EXPECT_EQ(actual.ratios, expected.ratios) << what;
    EXPECT_EQ(actual.attended_keys, expected.attended_keys) << what;
    EXPECT_LE(Difference(actual.logits, expected.logits),
              kPlacementTolerance * Largest(expected.logits))
        << what;
    EXPECT_LE(Difference(actual.attention, expected.attention), kPlacementAttentionTolerance)
        << what;
  }

  static constexpr int64_t kTokens = 41;
  std::vector<int32_t> ids_;
  std::shared_ptr<const Decoder> kernels_;
  std::map<std::string, std::shared_ptr<const Decoder>> placed_;
};

TEST_P(Placed, LogitsAttentionAndScoresAreThoseOfTheKernels) {
  for (const std::string& setting : Settings()) {
    const PlacedOutcome expected = Run(*kernels_, setting);
    for (const auto& [text, decoder] : placed_)
      ExpectEqual(Run(*decoder, setting), expected, std::string(text).append(" ").append(setting));
  }
}

TEST_P(Placed, TwoSharesOfTheCpuChangeNoBit) {
  const auto twice = Open("cpu,cpu");
  for (const std::string& setting : Settings()) {
    const PlacedOutcome a = Run(*twice, setting);
    const PlacedOutcome b = Run(*kernels_, setting);
    EXPECT_EQ(a.logits, b.logits) << setting;
    EXPECT_EQ(a.attention, b.attention) << setting;
  }
}

TEST_P(Placed, GreedyContinuationsAreTheSame) {
  const auto continuation = [&](const Decoder& decoder) {
    std::vector<int32_t> ids(ids_.begin(), ids_.end() - 9);
    const auto prompt_tokens = static_cast<int64_t>(ids.size());
    const auto trace = decoder.MakeTrace(prompt_tokens + 8, /*residual=*/false);
    while (static_cast<int64_t>(ids.size()) < prompt_tokens + 8) {
      RunRequest request;
      request.ids = ids;
      request.prompt_tokens = prompt_tokens;
      request.trace = trace.get();
      const RunResult result = decoder.RunOne(request);
      const auto logits = result.Logits(static_cast<int64_t>(ids.size()) - 1);
      ids.push_back(
          static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    }
    EXPECT_EQ(trace->bytes(), decoder.TraceBytes(trace->capacity(), {.residual = false}));
    return ids;
  };
  const std::vector<int32_t> expected = continuation(*kernels_);
  for (const auto& [text, decoder] : placed_) EXPECT_EQ(continuation(*decoder), expected) << text;
}

// Changes on a kept trace, each on top of the one before, against full runs by the kernels.
TEST_P(Placed, WhatIfEqualsAFullRun) {
  Prompt prompt;
  prompt.ids.assign(ids_.begin(), ids_.end() - 3);
  prompt.answer_ids.assign(ids_.end() - 3, ids_.end());
  prompt.answer_ids.push_back(7);  // the last one is not run, and the length counts
  for (const auto& [text, decoder] : placed_) {
    WhatIf what_if(decoder, {prompt});
    for (const std::string& setting : Settings()) {
      const WhatIfOutcome actual = what_if.Evaluate(ParseIntervention(setting)).outcomes[0];
      const PlacedOutcome expected = Run(*kernels_, setting);
      const auto vocabulary = static_cast<size_t>(kernels_->config().vocabulary);
      const auto row =
          std::span(expected.logits).subspan((prompt.ids.size() - 1) * vocabulary, vocabulary);
      EXPECT_EQ(actual.position_ratio.values, expected.ratios) << text << " " << setting;
      EXPECT_LE(Difference(actual.last_logits, row), kPlacementTolerance * Largest(row))
          << text << " " << setting;
      EXPECT_LE(Difference(actual.last_query_attention, expected.attention),
                kPlacementAttentionTolerance)
          << text << " " << setting;
    }
    EXPECT_EQ(what_if.trace(0)->bytes(), decoder->TraceBytes(what_if.trace(0)->capacity()));
    const int64_t layers = kernels_->config().layers;
    EXPECT_EQ(what_if.trace(0)->Channel(layers, 3).size(),
              static_cast<size_t>(what_if.trace(0)->rows()));
  }
}

TEST_P(Placed, HooksSeeTheSameEverywhere) {
  Everything expected;
  Run(*kernels_, "channel(3, factor=-1)", &expected);
  for (const auto& [text, decoder] : placed_) {
    Everything actual;
    Run(*decoder, "channel(3, factor=-1)", &actual);
    ASSERT_EQ(actual.points.size(), expected.points.size()) << text;
    for (const auto& [name, values] : expected.points) {
      EXPECT_LE(Difference(actual.points[name], values),
                kPlacementTolerance * std::max(1.0, Largest(values)))
          << text << " " << name;
    }
  }
}

TEST_P(Placed, WhatAHookWritesIsFeltAlikeAtEveryPoint) {
  const Numbers clean = Run(*kernels_, "none").logits;
  const int64_t last = kernels_->config().layers - 1;
  std::vector<HookPoint> points = {{HookSite::kEmbed, -1}, {HookSite::kFinalNormalized, -1}};
  for (const HookSite site :
       {HookSite::kResidPre, HookSite::kNormalizedAttention, HookSite::kQuery, HookSite::kKey,
        HookSite::kValue, HookSite::kPattern, HookSite::kZ, HookSite::kAttentionOut,
        HookSite::kNormalizedMlp, HookSite::kMlpPost, HookSite::kMlpOut, HookSite::kResidPost}) {
    const bool of_attention = site == HookSite::kQuery || site == HookSite::kKey ||
                              site == HookSite::kValue || site == HookSite::kPattern ||
                              site == HookSite::kZ;
    for (const int64_t layer : {int64_t{0}, last}) {
      if (of_attention && !kernels_->config().HasAttention(layer)) continue;
      if (site == HookSite::kNormalizedAttention && !kernels_->config().MixesRows(layer)) continue;
      const bool of_mlp = site == HookSite::kNormalizedMlp || site == HookSite::kMlpPost;
      if (of_mlp && !kernels_->config().HasMlp(layer)) continue;
      const ExpertSettings& experts = kernels_->config().experts;
      const bool of_experts =
          site == HookSite::kMlpPost && experts.In(layer) && !experts.beside_mlp;
      const int64_t keys_of = kernels_->config().AttentionOf(layer).keys_of;
      const bool lent = keys_of >= 0 && (site == HookSite::kKey || site == HookSite::kValue);
      points.push_back({of_experts ? HookSite::kExpertWeights : site, lent ? keys_of : layer});
    }
  }
  if (kernels_->config().layer_input_width > 0) points.push_back({HookSite::kLayerInputOut, last});
  for (const HookPoint& point : points) {
    Everything on_kernels(point);
    const Numbers expected = Run(*kernels_, "none", &on_kernels).logits;
    EXPECT_GT(Difference(expected, clean), 0) << HookName(point);
    for (const auto& [text, decoder] : placed_) {
      Everything there(point);
      EXPECT_LE(Difference(Run(*decoder, "none", &there).logits, expected),
                kPlacementTolerance * Largest(expected))
          << text << " " << HookName(point);
    }
  }
}

// Not a comparison of digits: that nothing on the way forgets the dtype. Of mixtures of experts
// rounding may choose another expert; families_test.cpp has prompts where it does not.
TEST_P(Placed, NarrowDtypesStayClose) {
  if (kernels_->config().experts.count > 0) return;
  const Numbers exact = Run(*kernels_, "channel(3, factor=-1)").logits;
  const auto check = [&](const std::string& text, kernels::Dtype dtype, double share) {
    const auto decoder = Open(text, dtype);
    EXPECT_LE(Difference(Run(*decoder, "channel(3, factor=-1)").logits, exact),
              share * Largest(exact))
        << text;
  };
  for (const auto& [text, unused] : placed_) check(text, kernels::Dtype::kBFloat16, 0.1);
  check("cpu:portable", kernels::Dtype::kFloat16, 0.1 / 8);  // three more bits
}

INSTANTIATE_TEST_SUITE_P(Tiny, Placed, ::testing::ValuesIn(TinyModelNames()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Placement, TheKernelsDoNotComputeInFloat16) {
  for (const char* text : {"cpu", "cpu,cpu:portable"}) {
    EXPECT_THAT(ErrorMessage([&] {
                  Decoder::Open(TinyModelPath("llama"), {.dtype = kernels::Dtype::kFloat16,
                                                         .placement = ParsePlacement(text)});
                }),
                HasSubstr("dtype 'float16': the CPU's own kernels do not compute in it. Use"));
  }
}

class WritesTooMuch : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool here = point == HookPoint{HookSite::kResidPre, 1};
    return {here ? HookAccess::kWrite : HookAccess::kNone, {0, sequence.rows}};
  }
  void OnActivation(HookView& view) override { view.Set(0, 0, 0, 0, 1e5f); }
};

TEST(Placement, ARunThatLeavesFloat16SaysSo) {
  const auto decoder = Decoder::Open(
      TinyModelPath("llama"),
      {.dtype = kernels::Dtype::kFloat16, .placement = ParsePlacement("cpu:portable")});
  const std::vector<int32_t> ids = {1, 2, 3, 4};
  RunRequest request;
  request.ids = ids;
  WritesTooMuch hook;
  request.hooks = {&hook};
  EXPECT_THAT(ErrorMessage([&] { decoder->RunOne(request); }), HasSubstr("float16 ends at 65,504"));
}

// A run cancelled after any layer leaves a trace that the next run goes on from rightly.
TEST(Placement, CancelledRunsDoNotSpoilLaterOnes) {
  const auto open = [](const char* placement) -> std::shared_ptr<const Decoder> {
    return Decoder::Open(TinyModelPath("llama"),
                         {.threads = 1, .placement = ParsePlacement(placement)});
  };
  const auto decoder = open("cpu:portable,cpu");
  const auto kernels = open("cpu");
  Prompt prompt;
  for (int32_t i = 0; i < 30; ++i) prompt.ids.push_back(i * 31 % 250);
  WhatIf what_if(decoder, {prompt});
  what_if.Evaluate({});
  for (int64_t stop = 0; stop < decoder->config().layers; ++stop) {
    std::atomic<bool> cancel{false};
    JobContext context;
    context.cancel = &cancel;
    context.progress = [&](const Progress& progress) { cancel = progress.done >= stop + 1; };
    bool cancelled = false;
    try {
      what_if.Evaluate(ParseIntervention("pi(1.7)"), context);
    } catch (const Cancelled&) {
      cancelled = true;
    }
    // After the last layer there is nothing left to stop but the logits.
    EXPECT_TRUE(cancelled || stop + 1 >= decoder->config().layers) << stop;
    WhatIf afresh(kernels, {prompt});
    const Intervention next = ParseIntervention("channel(4, factor=0)");
    const Numbers expected = afresh.Evaluate(next).outcomes[0].last_logits;
    EXPECT_LE(Difference(what_if.Evaluate(next).outcomes[0].last_logits, expected),
              kPlacementTolerance * Largest(expected))
        << stop;
  }
}

TEST(Placement, AGpuGivesWhatTheKernelsGive) {
  const std::vector<DeviceName> devices = AvailableDevices();
  if (devices.back().kind != DeviceKind::kCuda)
    GTEST_SKIP() << "this machine has no GPU, or this build no CUDA";
  for (const std::string& model : TinyModelNames()) {
    std::vector<int32_t> ids = test::SomeTinyIds(41);
    RunRequest request;
    request.ids = ids;
    const auto kernels = Decoder::Open(TinyModelPath(model), {kernels::Dtype::kFloat32, 1});
    request.intervention = ParseIntervention("channel(3, factor=-1)");
    const Numbers expected = kernels->RunOne(request).logits;
    for (const char* placement : {"cuda:0", "cuda:0=1,cpu", "cpu=1,cuda:0"}) {
      const auto decoder = Decoder::Open(TinyModelPath(model),
                                         {.threads = 1, .placement = ParsePlacement(placement)});
      Everything hook;
      request.hooks = {&hook};
      EXPECT_LE(Difference(decoder->RunOne(request).logits, expected), 1e-4 * Largest(expected))
          << model << " " << placement;
    }
  }
}

}  // namespace
}  // namespace midscope

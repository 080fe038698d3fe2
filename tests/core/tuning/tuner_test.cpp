// SPDX-License-Identifier: MIT
// Contract: a run that continues from a checkpoint equals an uninterrupted one bit for bit (one
// thread, CPU); a failed or cancelled step leaves the tuner as it was; tuned folders are read back
// with equal logits (1e-5 of the loss in float32: the decoder's order of sums is another one).

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/base/memory_map.h"
#include "core/decoder/decoder.h"
#include "core/formats/safetensors.h"
#include "core/terms/intervention_text.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuned_config.h"
#include "core/tuning/tuner.h"
#include "core/tuning/tuning_plans.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kLossTolerance = 1e-5;

std::unique_ptr<ModelSource> SourceOf(const std::string& name) {
  return OpenModel(test::TinyModelPath(name));
}

// Sample i: 20 tokens that depend on i, with a gap in their positions.
TuningSample SampleAt(int64_t index) {
  TuningSample sample;
  for (int64_t i = 0; i < 20; ++i) {
    sample.ids.push_back(static_cast<int32_t>((7 * i + 31 * index + i * i) % 250));
    sample.position_ids.push_back(static_cast<double>(i < 8 ? i : i + 13));
  }
  return sample;
}

TunerSettings Settings(int64_t steps = 6) {
  TunerSettings settings;
  settings.setting = ParseIntervention("pi(2)");
  settings.optimizer = {.rate = 1e-3, .steps = steps, .warm_up = 1};
  settings.batch = 2;
  settings.threads = 1;
  return settings;
}

TunerSettings WithLora(TunerSettings settings) {
  settings.lora = LoraSettings{.rank = 3, .alpha = 6, .projections = {"query", "down"}};
  return settings;
}

void Steps(Tuner& tuner, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) tuner.Step(SampleAt, {});
}

// The tensors of a checkpoint as bytes, without the history, which has times.
std::map<std::string, std::string> BytesOf(const Tuner& tuner) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "state").string();
  tuner.Save(path);
  const MemoryMap file(path);
  std::map<std::string, std::string> bytes;
  for (const auto& [name, tensor] : ParseSafetensorsHeader(file.bytes(), path)) {
    if (name != "history")
      bytes[name].assign(reinterpret_cast<const char*>(tensor.data),
                         static_cast<size_t>(tensor.bytes));
  }
  return bytes;
}

void ExpectResumedEqual(const std::string& model, const TunerSettings& settings) {
  const auto source = SourceOf(model);
  Tuner whole(*source, settings, {});
  Steps(whole, 6);
  const test::TemporaryFolder folder;
  {
    Tuner first(*source, settings, {});
    first.held_out_losses().push_back(1.5);
    Steps(first, 4);
    first.Save(folder.path() / "state");
    Steps(first, 1);  // lost
  }
  Tuner second(*source, settings, {});
  second.Load(folder.path() / "state");
  EXPECT_EQ(second.steps_done(), 4);
  EXPECT_EQ(second.held_out_losses(), std::vector<double>{1.5});
  Steps(second, 2);
  whole.held_out_losses().push_back(1.5);
  EXPECT_EQ(BytesOf(second), BytesOf(whole));
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(second.history()[i].loss, whole.history()[i].loss);
}

TEST(Tuner, AResumedRunEqualsAnUninterruptedOne) {
  ExpectResumedEqual("qwen3", Settings());
  ExpectResumedEqual("qwen2-moe", WithLora(Settings()));
  TunerSettings rounded = Settings();
  rounded.dtype = kernels::Dtype::kBFloat16;
  rounded.recompute = true;
  ExpectResumedEqual("mixtral", rounded);
}

TEST(Tuner, LossFalls) {
  for (const TunerSettings& settings : {Settings(40), WithLora(Settings(40))}) {
    TunerSettings fast = settings;
    fast.optimizer.rate = 2e-2;
    const auto source = SourceOf("qwen3");
    Tuner tuner(*source, fast, {});
    const auto same = [](int64_t) { return SampleAt(0); };
    const double before = tuner.MeanLoss(same, 0, 1, {});
    for (int64_t i = 0; i < 40; ++i) tuner.Step(same, {});
    EXPECT_LT(tuner.MeanLoss(same, 0, 1, {}), 0.7 * before) << settings.lora.has_value();
  }
}

// Weights in bfloat16 would not change at a rate that float32 copies of them resolve.
TEST(Tuner, SmallStepsAddUpInBFloat16) {
  TunerSettings settings = Settings(30);
  settings.dtype = kernels::Dtype::kBFloat16;
  settings.optimizer.rate = 2e-5;
  const auto source = SourceOf("qwen3");
  Tuner tuner(*source, settings, {});
  const auto before = BytesOf(tuner);
  Steps(tuner, 30);
  EXPECT_NE(BytesOf(tuner).at("value.0.query"), before.at("value.0.query"));
  const double loss = tuner.MeanLoss(SampleAt, 0, 1, {});
  EXPECT_TRUE(std::isfinite(loss));
}

TEST(Tuner, AFailedStepLeavesTheTunerAsItWas) {
  TunerSettings settings = Settings();
  settings.optimizer.rate = 1e30;
  settings.optimizer.warm_up = 0;
  const auto source = SourceOf("qwen3");
  Tuner tuner(*source, settings, {});
  Steps(tuner, 1);
  const auto before = BytesOf(tuner);
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { Steps(tuner, 1); }), HasSubstr("in step 2"));
  EXPECT_EQ(tuner.steps_done(), 1);
  EXPECT_EQ(BytesOf(tuner), before);
}

TEST(Tuner, ACancelledStepLeavesTheTunerAsItWas) {
  std::atomic<bool> cancel = false;
  const JobContext context{&cancel, nullptr, nullptr};
  const auto source = SourceOf("qwen3");
  Tuner tuner(*source, Settings(), context);
  tuner.Step(SampleAt, context);
  const auto before = BytesOf(tuner);
  const auto cancelling = [&](int64_t index) {
    cancel = index == 3;  // the second sample of the step, after the first one's gradients
    return SampleAt(index);
  };
  EXPECT_THROW(tuner.Step(cancelling, context), Cancelled);
  cancel = false;
  EXPECT_EQ(BytesOf(tuner), before);
  Steps(tuner, 5);
  Tuner whole(*source, Settings(), {});
  Steps(whole, 6);
  EXPECT_EQ(BytesOf(tuner), BytesOf(whole));
}

TEST(Tuner, TheBackwardPassIsCancelled) {
  const auto source = SourceOf("qwen3");
  for (const bool checkpoints : {false, true}) {
    std::atomic<bool> cancel = false;
    const DifferentiableModel model(*source, {.checkpoints = checkpoints, .cancel = &cancel});
    const TuningSample sample = SampleAt(0);
    const at::Tensor loss =
        model.NextTokenLoss(sample.ids, TuningPlans({}, sample.position_ids, model.config(), 20));
    cancel = true;
    EXPECT_THROW(loss.backward(), Cancelled);
  }
}

TEST(Tuner, ALargeOutputMatrixIsNotMultipliedAfterACancel) {
  const auto source = SourceOf("qwen3");
  std::atomic<bool> cancel = false;
  const DifferentiableModel model(*source, {.cancel = &cancel});
  const TuningSample sample = SampleAt(0);
  PassOptions pass;
  pass.heads = [&](int64_t layer, const at::Tensor& values) {
    cancel = layer + 1 == model.config().layers;
    return values;
  };
  EXPECT_THROW(
      model.Logits(sample.ids, TuningPlans({}, sample.position_ids, model.config(), 20), pass),
      Cancelled);
}

// The mean over tokens that count, the first excepted; 0 if none does.
double LossOfLogits(const at::Tensor& logits, const std::vector<int32_t>& ids,
                    const std::vector<uint8_t>& in_loss = {}) {
  const at::Tensor likelihoods = logits.log_softmax(-1);
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 1; i < std::ssize(ids); ++i) {
    if (!in_loss.empty() && in_loss[static_cast<size_t>(i)] == 0) continue;
    sum -= likelihoods[i - 1][ids[static_cast<size_t>(i)]].item<double>();
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

TEST(Tuner, LossIsThatOfAllLogits) {
  const auto source = SourceOf("qwen3");
  const DifferentiableModel model(*source, {});
  const Tuner tuner(*source, Settings(), {});
  for (const std::vector<size_t>& counted :
       {std::vector<size_t>{17, 19}, std::vector<size_t>{1}, std::vector<size_t>{}}) {
    TuningSample sample = SampleAt(0);
    sample.in_loss.assign(sample.ids.size(), 0);
    for (const size_t token : counted) sample.in_loss[token] = 1;
    const auto plans =
        TuningPlans(ParseIntervention("pi(2)"), sample.position_ids, model.config(), 20);
    const double expected =
        LossOfLogits(model.Logits(sample.ids, plans), sample.ids, sample.in_loss);
    EXPECT_NEAR(tuner.MeanLoss([&](int64_t) { return sample; }, 0, 1, {}), expected,
                kLossTolerance);
  }
}

TEST(Tuner, RefusesWhatItCannotContinueOrWrite) {
  const test::TemporaryFolder folder;
  const auto qwen = SourceOf("qwen3");
  const auto llama = SourceOf("llama");
  Tuner tuner(*qwen, WithLora(Settings()), {});
  Steps(tuner, 1);
  tuner.Save(folder.path() / "state");
  Tuner other(*llama, WithLora(Settings()), {});
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { other.Load(folder.path() / "state"); }),
              HasSubstr("state: "));
  const auto refusal = [](const std::string& model) {
    const auto source = SourceOf(model);
    return ErrorMessage(ErrorKind::kUsage, [&] { Tuner(*source, Settings(), {}); });
  };
  EXPECT_THAT(refusal("gguf-llama"), AllOf(HasSubstr("GGUF"), HasSubstr("--lora RANK")));
  EXPECT_THAT(refusal("gpt-oss"), AllOf(HasSubstr("down_proj"), HasSubstr("--lora RANK")));
  EXPECT_EQ(refusal("gpt-neox"), "");
}

// The mean loss of the sample in the decoder.
double DecoderLoss(const std::string& folder, const std::string& setting,
                   const TuningSample& sample) {
  const auto decoder = Decoder::Open(folder, {.threads = 1, .beyond_context = true});
  RunRequest request;
  request.ids = sample.ids;
  request.first_logit_row = 0;
  request.intervention = ParseIntervention(setting);
  const std::vector<float> logits = decoder->RunOne(request).logits;
  return LossOfLogits(at::tensor(logits).reshape({std::ssize(sample.ids), -1}), sample.ids);
}

TEST(TunedFolder, IsReadBackWithEqualLogits) {
  TuningSample plain = SampleAt(3);
  plain.position_ids.clear();
  for (const std::string name :
       {"llama", "qwen3", "phi3", "gpt-neox", "glm4", "mixtral", "falcon", "gemma2", "qwen2-moe",
        "deepseek-v3", "llama-tied-linear", "qwen3@init:3", "phi3@init"}) {
    for (const auto interpolation : {Interpolation::kLinear, Interpolation::kNtk}) {
      TunerSettings settings = Settings(2);
      const std::string setting = interpolation == Interpolation::kNtk ? "ntk(2)" : "pi(2)";
      settings.setting = ParseIntervention(setting);
      const auto source = SourceOf(name);
      Tuner tuner(*source, settings, {});
      Steps(tuner, 2);
      const test::TemporaryFolder folder;
      tuner.WriteModel(folder.path());
      const bool has_scheme =
          WriteTunedConfig(ResolveModel(source->path()), source->config(), settings.dtype,
                           {interpolation, 2, 128}, folder.path());
      const bool expected = source->config().rope_scaling.kind == RopeScalingKind::kNone;
      EXPECT_EQ(has_scheme, expected) << name;
      const double loss = tuner.MeanLoss([&](int64_t) { return plain; }, 0, 1, {});
      EXPECT_NEAR(DecoderLoss(folder.path().string(), has_scheme ? "none" : setting, plain), loss,
                  kLossTolerance * loss)
          << name << " " << setting;
    }
  }
}

TEST(TunedFolder, ConfigOfYarnNeedsItsSetting) {
  const test::TemporaryFolder folder;
  const auto source = SourceOf("qwen3");
  EXPECT_FALSE(WriteTunedConfig(source->path(), source->config(), kernels::Dtype::kBFloat16,
                                {Interpolation::kYarn, 4, 512}, folder.path()));
  const nlohmann::json config = test::ReadJson((folder.path() / "config.json").string());
  EXPECT_EQ(config["dtype"], "bfloat16");
  EXPECT_EQ(config["rope_parameters"]["rope_type"], "default");
  EXPECT_EQ(config["max_position_embeddings"], 128);
}

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// The tiny models of all families with CudaOps without a GPU: a prompt, a token after it, the most
// likely tokens of both, and what-ifs of its last rows, twice in succession, so that the second is
// recorded. Contract, compared with LibTorch's operations (AtenOps) in float32: within 2e-5 of the
// largest logit in float32; in bfloat16 as close as AtenOps in bfloat16, within a factor of 3 and
// 1/200 of the largest (for mixtures of experts, where rounding may change the choice of experts,
// 1/50).
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/compute/cuda/cuda_ops.h"
#include "core/decoder/recorded_rows.h"
#include "core/decoder/run_sequences.h"
#include "core/model/model_source.h"
#include "core/plan/plan_changes.h"
#include "core/terms/intervention_text.h"
#include "kernels/parallel.h"
#include "tests/core/cuda_host/kernels_on_host.h"
#include "tests/core/support/block_model.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using kernels::Dtype;
using test::Difference;
using test::Largest;

constexpr int64_t kPrompt = 41;

// A model on one device, as a decoder has it.
class OnDevice {
 public:
  OnDevice(const ModelSource& source, std::unique_ptr<LayerOps> ops, Dtype dtype,
           WeightStorage storage = WeightStorage::kExpanded)
      : config_(source.config()),
        devices_(std::move(ops), config_.layers),
        dtype_(dtype),
        weights_(LoadWeights(source, {.dtype = dtype, .storage = storage}, executor_, {})) {
    PlaceWeights(devices_, executor_, &weights_);
    ids_ = test::SomeTinyIds(kPrompt + 1);
    trace_ = AllocateTrace(config_, dtype, kPrompt + 1, /*residual=*/true, 0, devices_.Devices());
  }

  // Logits of the last row of so many tokens, of which the trace's are taken from it.
  std::vector<float> Run(int64_t tokens, const std::string& setting,
                         const std::vector<Hook*>& hooks = {}) {
    RunRequest request;
    request.hooks = hooks;
    request.ids = std::span(ids_).first(static_cast<size_t>(tokens));
    request.intervention = ParseIntervention(setting);
    request.trace = trace_.get();
    return Logits(request);
  }
  // A what-if of the last rows.
  std::vector<float> Change(const std::string& setting) {
    RunRequest request;
    request.ids = std::span(ids_).first(static_cast<size_t>(trace_->rows()));
    request.intervention = ParseIntervention(setting);
    request.trace = trace_.get();
    std::vector<int64_t> rows = FirstChangedRows(
        trace_->plans(), CompilePlans(request.intervention, config_, trace_->rows()));
    for (int64_t& row : rows) row = std::min(row, trace_->rows() - (row == kNoRow ? 0 : 1));
    rows.back() = std::min(rows.back(), trace_->rows() - 1);
    request.rerun = RunRequest::Rerun{rows};
    return Logits(request);
  }
  int64_t Starts() const {
    const auto& recorded = trace_->storage().recorded;
    return recorded ? recorded->starts() : 0;
  }
  const ModelConfig& config() const { return config_; }

 private:
  std::vector<float> Logits(const RunRequest& request) {
    const PassParts parts{config_, weights_, devices_, dtype_, rotary_, executor_};
    std::vector<SequencePass> sequences;
    sequences.push_back(PrepareSequence(request, 0, config_, dtype_, devices_.Devices()));
    SequencePass& sequence = sequences.front();
    const JobContext job;
    ForwardPass pass(parts, job);
    std::vector<float> logits;
    if (const at::Tensor recorded = RunRecorded(sequences, parts); recorded.defined()) {
      logits = pass.LogitsFrom(recorded);
    } else {
      pass.Run(sequences);
      const int64_t row = sequence.rows - 1;
      logits = pass.Logits(sequence, row);
      const std::vector<TopToken> likeliest = pass.Likeliest(sequence, row, 5);
      const std::vector<TopToken> expected = TopTokensOfRows(logits, config_.vocabulary, 5);
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(likeliest[i].id, expected[i].id);
    }
    trace_->Set(sequence.rows, sequence.prompt_tokens, std::move(sequence.plans));
    return logits;
  }

  ModelConfig config_;
  const kernels::Executor& executor_ = kernels::SerialExecutor();
  LayerDevices devices_;
  Dtype dtype_;
  Weights weights_;
  RotaryCache rotary_;
  std::vector<int32_t> ids_;
  std::unique_ptr<Trace> trace_;
};

constexpr const char* kFactors[] = {"-1", "0.5", "2"};

// From layer 1 on.
std::string ChannelTimes(const char* factor) {
  return std::string("channel(3, factor=") + factor + ", layers=1)";
}

// Logits of every step.
std::vector<std::vector<float>> Steps(OnDevice model, const std::string& setting) {
  std::vector<std::vector<float>> steps = {model.Run(kPrompt, setting),
                                           model.Run(kPrompt + 1, setting)};
  const std::string before = setting == "none" ? "" : setting + " + ";
  for (const char* factor : kFactors) steps.push_back(model.Change(before + ChannelTimes(factor)));
  return steps;
}

bool IsRecorded(const ModelConfig& config) {
  return config.experts.layers.empty() && !config.latent.used() && !config.HasMixers() &&
         config.layer_input_width == 0;
}

class FamiliesOnHost : public testing::TestWithParam<std::string> {};

TEST_P(FamiliesOnHost, StepsAreThoseOfLibTorch) {
  const c10::InferenceMode inference;
  const auto source = OpenModel(test::TinyModelPath(GetParam()));
  const at::Device cpu(at::kCPU);
  const double share = source->config().experts.count > 0 ? 1.0 / 50 : 1.0 / 200;
  for (const char* setting : {"none", "pi(1.5)", "ms-poe(first_layer=0, order=sequential)",
                              "self-extend(group=2, window=8)"}) {
    const auto steps = [&](std::unique_ptr<LayerOps> ops, Dtype dtype) {
      return Steps(OnDevice(*source, std::move(ops), dtype), setting);
    };
    std::vector<std::vector<float>> expected;
    try {
      expected = steps(std::make_unique<AtenOps>(cpu), Dtype::kFloat32);
    } catch (const Error&) {
      continue;  // a model without rotary positions
    }
    const auto wide = steps(std::make_unique<CudaOps>(cpu), Dtype::kFloat32);
    const auto narrow = steps(std::make_unique<CudaOps>(cpu), Dtype::kBFloat16);
    const auto beside = steps(std::make_unique<AtenOps>(cpu), Dtype::kBFloat16);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double largest = Largest(expected[i]);
      EXPECT_LE(Difference(wide[i], expected[i]), 2e-5 * largest) << setting << ", step " << i;
      // With experts beside each layer's MLP, rounding chooses others in some row.
      if (source->config().experts.beside_mlp) continue;
      EXPECT_LE(Difference(narrow[i], expected[i]),
                3 * Difference(beside[i], expected[i]) + share * largest)
          << setting << ", step " << i;
    }
  }
}

TEST_P(FamiliesOnHost, TheSecondWhatIfIsRecorded) {
  const c10::InferenceMode inference;
  const auto source = OpenModel(test::TinyModelPath(GetParam()));
  OnDevice model(*source, std::make_unique<CudaOps>(at::Device(at::kCPU)), Dtype::kBFloat16);
  model.Run(kPrompt, "none");
  for (const char* factor : kFactors) model.Change(ChannelTimes(factor));
  EXPECT_EQ(model.Starts(), IsRecorded(model.config()) ? 2 : 0);
}

// Norms of heads and factors of queries are on the device from the first what-if on.
TEST_P(FamiliesOnHost, NothingIsCopiedWhileAWhatIfIsRecorded) {
  const c10::InferenceMode inference;
  const auto source = OpenModel(test::TinyModelPath(GetParam()));
  OnDevice model(*source, std::make_unique<CudaOps>(at::Device(at::kCPU)), Dtype::kBFloat16);
  model.Run(kPrompt, "none");
  test::refused_graphs = test::thrown_recordings = test::recorded_copies = 0;
  test::refuse_graphs = true;
  for (const char* factor : kFactors) model.Change(ChannelTimes(factor));
  test::refuse_graphs = false;
  EXPECT_EQ(test::refused_graphs, IsRecorded(model.config()) ? 1 : 0);
  EXPECT_EQ(test::thrown_recordings, 0);
  EXPECT_EQ(test::recorded_copies, 0);
}

// Results made during the recording of a graph that is then refused are discarded: no kernel has
// run. Copies from host memory are not recorded.
TEST(CudaOpsOnHost, ARefusedGraphLeavesNothingBehind) {
  const c10::InferenceMode inference;
  const test::TemporaryFile file(test::BlockModel(kernels::BlockType::kQ4_K).Bytes());
  const auto source = OpenModel(file.path());
  const auto steps = [&](std::unique_ptr<LayerOps> ops) {
    OnDevice model(*source, std::move(ops), Dtype::kFloat32, WeightStorage::kStored);
    model.Run(kPrompt, "none");
    std::vector<std::vector<float>> logits;
    for (const char* factor : kFactors) {
      // Other columns, and other heads' tables, take the place of those that are kept, in runs that
      // are not recorded.
      for (const char* other : {"temperature(L1H0, 1.4) + channel(4, factor=0.5, layers=1)",
                                "temperature(L1H0, 1.5) + channel(5, factor=0.5, layers=1)",
                                "temperature(L1H0, 1.6) + channel(6, factor=0.5, layers=1)",
                                "temperature(L1H0, 1.7) + channel(7, factor=0.5, layers=1)"}) {
        model.Change(other);
      }
      logits.push_back(model.Change(ChannelTimes(factor)));
    }
    EXPECT_EQ(model.Starts(), 0);
    return logits;
  };
  test::refused_graphs = test::thrown_recordings = 0;
  test::refuse_graphs = true;
  const auto logits = steps(std::make_unique<CudaOps>(at::Device(at::kCPU)));
  test::refuse_graphs = false;
  EXPECT_EQ(test::refused_graphs, 1) << "it is asked once";
  EXPECT_EQ(test::thrown_recordings, 1) << "the heads' tables would be copied";
  class NotRecording : public AtenOps {
   public:
    using AtenOps::AtenOps;
    std::unique_ptr<RecordedWork> Record(const std::function<void()>&) const override {
      return nullptr;
    }
  };
  const auto expected = steps(std::make_unique<NotRecording>(at::Device(at::kCPU)));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(Difference(logits[i], expected[i]), 1e-4 * Largest(expected[i])) << i;
}

// Changes the keys and values of the last row as they were projected.
class Doubling : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool doubled = point.site == HookSite::kKey || point.site == HookSite::kValue;
    return doubled ? HookRequest{HookAccess::kWrite, {sequence.rows - 1, sequence.rows}}
                   : HookRequest{};
  }
  void OnActivation(HookView& view) override {
    for (int64_t head = 0; head < view.shape[2]; ++head) {
      for (int64_t i = 0; i < view.shape[3]; ++i)
        view.Set(0, 0, head, i, 2 * view.At(0, 0, head, i));
    }
  }
};

// Where a product writes keys and values to the trace itself, a hook could not change them.
TEST(CudaOpsOnHost, ATokensKeysAndValuesAreThoseThatAHookWrote) {
  const c10::InferenceMode inference;
  const test::TemporaryFile file(test::BlockModel(kernels::BlockType::kQ4_K).Bytes());
  const auto source = OpenModel(file.path());
  const auto steps = [&](std::unique_ptr<LayerOps> ops, bool doubled) {
    OnDevice model(*source, std::move(ops), Dtype::kFloat32, WeightStorage::kStored);
    Doubling hook;
    model.Run(kPrompt - 1, "none");
    model.Run(kPrompt, "none", doubled ? std::vector<Hook*>{&hook} : std::vector<Hook*>{});
    return model.Run(kPrompt + 1, "none");
  };
  const at::Device cpu(at::kCPU);
  const auto expected = steps(std::make_unique<AtenOps>(cpu), true);
  EXPECT_LE(Difference(steps(std::make_unique<CudaOps>(cpu), true), expected),
            1e-4 * Largest(expected));
  EXPECT_GT(Difference(steps(std::make_unique<CudaOps>(cpu), false), expected),
            1e-2 * Largest(expected));
}

INSTANTIATE_TEST_SUITE_P(Tiny, FamiliesOnHost, testing::ValuesIn(test::TinyModelNames()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace midscope

// SPDX-License-Identifier: MIT
// Rotary tables that a GPU computes itself, tested without a GPU.
//
// Contract: logits, and rotated queries and keys, equal those with tables computed on the CPU and
// copied, within the effect of a difference of one float32 step in the tables, under every kind of
// position.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/compute/aten_ops.h"
#include "core/compute/cuda/cuda_ops.h"
#include "core/compute/layer_devices.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/run_sequences.h"
#include "core/model/model_source.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using kernels::Dtype;

constexpr int64_t kFirstLogits = 30;  // of 41 rows

// Queries and keys of all layers after rotation.
class Rotated : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool wanted =
        point.site == HookSite::kRotatedQuery || point.site == HookSite::kRotatedKey;
    return wanted ? HookRequest{HookAccess::kRead, {0, sequence.rows}} : HookRequest{};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t head = 0; head < view.shape[2]; ++head) {
        for (int64_t i = 0; i < view.shape[3]; ++i) values.push_back(view.At(0, row, head, i));
      }
    }
  }
  std::vector<float> values;
};

std::vector<float> LogitsOf(const ModelSource& source, std::unique_ptr<LayerOps> ops,
                            const std::string& setting, Hook* hook) {
  const ModelConfig& config = source.config();
  const LayerDevices devices(std::move(ops), config.layers);
  const kernels::Executor& executor = kernels::SerialExecutor();
  const JobContext job;
  Weights weights = LoadWeights(source, {.dtype = Dtype::kFloat32}, executor, job);
  PlaceWeights(devices, executor, &weights);
  const std::vector<int32_t> ids = test::SomeTinyIds(41);
  RunRequest request;
  request.ids = ids;
  request.first_logit_row = kFirstLogits;
  request.intervention = ParseIntervention(setting);
  if (hook) request.hooks = {hook};
  std::vector<SequencePass> sequences;
  sequences.push_back(PrepareSequence(request, 0, config, Dtype::kFloat32, devices.Devices()));
  RotaryCache rotary;
  ForwardPass pass({config, weights, devices, Dtype::kFloat32, rotary, executor}, job);
  pass.Run(sequences);
  return pass.Logits(sequences[0], kFirstLogits);
}

TEST(DeviceTables, GiveWhatTablesOfTheCpuGive) {
  const c10::InferenceMode inference;
  for (const char* model : {"llama", "llama-yarn", "gptj", "deepseek-v3"}) {
    const auto source = OpenModel(test::TinyModelPath(model));
    for (const char* setting :
         {"none", "pi(1.7)", "ms-poe(first_layer=0)", "self-extend(group=3, window=8)", "ntk(2)",
          "move(span=5:9, to=shift:7)", "positions(sampler=pose, factor=2, seed=3)",
          "positions(sampler=pose, factor=2, seed=3) + move(span=5:9, to=shift:7)"}) {
      for (const bool hooked : {false, true}) {
        Rotated of_forming, of_aten;
        const std::vector<float> logits =
            LogitsOf(*source, std::make_unique<CudaOps>(at::Device(at::kCPU)), setting,
                     hooked ? &of_forming : nullptr);
        const std::vector<float> expected =
            LogitsOf(*source, std::make_unique<AtenOps>(at::Device(at::kCPU)), setting,
                     hooked ? &of_aten : nullptr);
        EXPECT_LE(test::Difference(logits, expected), 2e-5 * test::Largest(expected))
            << model << " " << setting;
        ASSERT_EQ(of_forming.values.size(), of_aten.values.size());
        ASSERT_EQ(of_forming.values.empty(), !hooked);
        if (!hooked) continue;
        EXPECT_LE(test::Difference(of_forming.values, of_aten.values),
                  2e-5 * test::Largest(of_aten.values))
            << model << " " << setting;
      }
    }
  }
}

}  // namespace
}  // namespace midscope

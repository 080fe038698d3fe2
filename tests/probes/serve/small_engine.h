// SPDX-License-Identifier: MIT
// An engine without a model that calls hooks at four points with planted activations, so that
// thousands of requests take seconds.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/decoder/hooks.h"
#include "tests/probes/support/fake_what_if_engine.h"

namespace midscope::testing {

inline constexpr int64_t kSmallRows = 5;

inline ModelConfig SmallConfig() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 4;
  config.key_value_heads = 2;
  config.head_dim = 3;
  config.hidden = 6;
  return config;
}

// A view of a contiguous activation with the elements 0, 1, ...
struct SmallActivation {
  SmallActivation(const std::string& name, int dimensions, std::array<int64_t, 4> shape) {
    view.point = *ParseHookName(name);
    view.dimensions = dimensions;
    view.shape = shape;
    for (size_t i = 4, stride = 1; i-- > 0;) {
      view.strides[i] = static_cast<int64_t>(stride);
      stride *= static_cast<size_t>(shape[i]);
    }
    values.resize(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
    std::iota(values.begin(), values.end(), 0.0F);
    view.data = values.data();
  }
  std::vector<float> values;
  HookView view;
};

class SmallEngine : public FakeWhatIfEngine {
 public:
  SmallEngine() : FakeWhatIfEngine(std::make_shared<WhatIfGate>()) {}

  ModelSummary Open(const OpenRequest&, const JobContext&) override {
    ModelSummary summary;
    summary.config = SmallConfig();
    return summary;
  }
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext&) override {
    for (Hook* hook : request.hooks) {
      SmallActivation points[] = {{"blocks.0.hook_resid_post", 3, {1, kSmallRows, 6, 1}},
                                  {"blocks.1.attn.hook_z", 4, {1, kSmallRows, 4, 3}},
                                  {"blocks.1.attn.hook_k", 4, {1, kSmallRows, 2, 3}},
                                  {"blocks.0.attn.hook_pattern", 4, {1, 4, kSmallRows, 5}}};
      for (SmallActivation& activation : points) {
        const HookRequest part = hook->Request(activation.view.point, {0, kSmallRows, 4});
        if (part.access != HookAccess::kNone) hook->OnActivation(activation.view);
      }
    }
    return {};
  }
  // Returns 2 MB after each of `samples` steps of a millisecond.
  Record Compare(const CompareRequest& request, const std::function<void(const Record&)>& partial,
                 const JobContext& context) override {
    Record record;
    record.name = "outcome_means";
    record.axes = {{"row", int64_t{1} << 18, "", {}, {}}};
    record.arrays = {{"answer_nll", {"row"}, std::vector<double>(size_t{1} << 18), "", ""}};
    for (int64_t i = 0; i < request.samples; ++i) {
      context.ThrowIfCancelled();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      partial(record);
    }
    return record;
  }
};

}  // namespace midscope::testing

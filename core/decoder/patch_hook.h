// SPDX-License-Identifier: MIT
// The hooks of activation patching: one puts a run's patches in, the other takes the values of a
// source run. Both go by the same hook points.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// The hook point of the patched values in a layer, and the number of values per row there.
HookPoint PatchPoint(PatchWhat what, int64_t layer);
int64_t PatchWidth(PatchWhat what, const ModelConfig& config);

// Replaces rows according to the plans.
class PatchHook : public Hook {
 public:
  // `plans` [layer] must outlive the hook.
  explicit PatchHook(std::span<const AttentionPlan> plans) : plans_(plans) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  std::span<const AttentionPlan> plans_;
};

// The patch hook of plans that patch anything; else null. Throws Error (usage) where a patch has no
// values: its source has not been run.
std::unique_ptr<PatchHook> MakePatchHook(std::span<const AttentionPlan> plans);

// Rows of one hook point in every layer.
class RowValues : public Hook {
 public:
  // `rows` of the prompt.
  RowValues(const ModelConfig& config, PatchWhat what, RowRange rows);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  // The values that were read; call once, after the run.
  RunValues Take() { return std::move(values_); }

 private:
  PatchWhat what_;
  RowRange rows_;
  RunValues values_;
};

}  // namespace midscope

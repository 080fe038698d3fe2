// SPDX-License-Identifier: MIT
// The hooks of activation patching: one inserts a run's patches, the other reads the values of a
// source run. Both use the same hook points.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Return the hook point of the patched values in a layer, and the number of values per row there.
HookPoint PatchPoint(PatchWhat what, int64_t layer);
int64_t PatchWidth(PatchWhat what, const ModelConfig& config);

// Replaces rows according to the plans' patches.
class PatchHook : public Hook {
 public:
  // `plans` [layer] must outlive the hook.
  explicit PatchHook(std::span<const AttentionPlan> plans) : plans_(plans) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  std::span<const AttentionPlan> plans_;
};

// Returns the hook for plans with patches; null if there are none. Throws Error (usage) if a patch
// has no values because its source has not been run.
std::unique_ptr<PatchHook> MakePatchHook(std::span<const AttentionPlan> plans);

// Reads rows of one hook point in every layer.
class RowValues : public Hook {
 public:
  // `rows`: rows of the prompt.
  RowValues(const ModelConfig& config, PatchWhat what, RowRange rows);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  // Returns the values that were read. Call it once, after the run.
  RunValues Take() { return std::move(values_); }

 private:
  PatchWhat what_;
  RowRange rows_;
  RunValues values_;
};

}  // namespace midscope

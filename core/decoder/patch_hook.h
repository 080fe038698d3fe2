// SPDX-License-Identifier: MIT
// The hooks of activation patching: PatchHook replaces values in a run, RowValues reads them in a
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

// PatchPoint returns the hook point at which a layer's values are patched; the second function
// returns the number of values per row there.
HookPoint PatchPoint(PatchWhat what, int64_t layer);
int64_t PatchWidth(PatchWhat what, const ModelConfig& config);

// Replaces rows of activations by the values in the patches of the plans.
class PatchHook : public Hook {
 public:
  // `plans` [layer] must outlive the hook.
  explicit PatchHook(std::span<const AttentionPlan> plans) : plans_(plans) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  std::span<const AttentionPlan> plans_;
};

// Returns a hook that applies the plans' patches; null if no plan has patches. Throws Error (usage)
// if a patch has no values because its source has not been run.
std::unique_ptr<PatchHook> MakePatchHook(std::span<const AttentionPlan> plans);

// A hook that copies rows of one hook point in every layer.
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

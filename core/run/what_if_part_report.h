// SPDX-License-Identifier: MIT
// Reports the layers of a running what-if that are done.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/run/what_if_sequence.h"

namespace midscope {

// The ratios of a run by layer, as the run itself decides them: known for a layer when it is done.
class RatiosSoFar : public Hook {
 public:
  // `plans` of the run and `kept` of the trace below it, [layer] each (kept may be empty);
  // first_row: the first row that is run of each layer, of `rows`.
  RatiosSoFar(const ModelConfig& config, const std::vector<AttentionPlan>& plans,
              const std::vector<AttentionPlan>& kept, const std::vector<int64_t>& first_row,
              int64_t rows);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  const HeadMatrix& ratios() const { return ratios_; }

 private:
  void Fill(int64_t layer, const std::vector<double>& ratios);

  const ModelConfig& config_;
  std::vector<const RatioRule*> rules_;  // [layer]; null: decided before the run
  HeadMatrix ratios_;
};

class WhatIf::PartReport {
 public:
  // Reads along in the sequence's run until it is destroyed. The references must outlive it.
  PartReport(const Decoder& decoder, Sequence& sequence, const Intervention& intervention,
             const WhatIfShown& shown, bool attention);
  ~PartReport() { sequence_.extra_hook = nullptr; }
  PartReport(const PartReport&) = delete;
  PartReport& operator=(const PartReport&) = delete;

  // The context for the sequence's own run, which reports its layers. Must not outlive this.
  JobContext Observed(const JobContext& context);
  // Call it after the run.
  void TellWhole();

 private:
  void LayerDone(int64_t layers_done);

  const Decoder& decoder_;
  Sequence& sequence_;
  const Intervention& intervention_;
  const WhatIfShown& shown_;
  bool attention_;
  RatiosSoFar ratios_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace midscope

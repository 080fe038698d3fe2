// SPDX-License-Identifier: MIT
// Reports the finished layers of a running what-if.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/run/what_if_sequence.h"

namespace midscope {

// Records the ratios that a run itself computes, layer by layer: available once the layer is done.
class RatiosSoFar : public Hook {
 public:
  // `plans` are the run's and `kept` those of the trace that it starts from, [layer] each (kept may
  // be empty). first_row [layer]: the first row that each layer runs, out of `rows` rows.
  RatiosSoFar(const ModelConfig& config, const std::vector<AttentionPlan>& plans,
              const std::vector<AttentionPlan>& kept, const std::vector<int64_t>& first_row,
              int64_t rows);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  const HeadMatrix& ratios() const { return ratios_; }

 private:
  void Fill(int64_t layer, const std::vector<double>& ratios);

  const ModelConfig& config_;
  std::vector<const RatioRule*> rules_;  // [layer]; null: ratios are fixed before the run
  HeadMatrix ratios_;
};

class WhatIf::PartReport {
 public:
  // Observes the sequence's run until it is destroyed. The references must outlive it.
  PartReport(const Decoder& decoder, Sequence& sequence, const Intervention& intervention,
             const WhatIfShown& shown, bool attention);
  ~PartReport() { sequence_.extra_hook = nullptr; }
  PartReport(const PartReport&) = delete;
  PartReport& operator=(const PartReport&) = delete;

  // Returns the context for the sequence's own run, which reports finished layers. It must not
  // outlive this object.
  JobContext Observed(const JobContext& context);
  // Reports the finished prompt. Call it after the run.
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

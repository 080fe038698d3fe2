// SPDX-License-Identifier: MIT
// Repeats a pass over the last rows of a trace while only the factors of scaled channels change (a
// slider is dragged). The device's work is recorded once; a run then launches it as a whole with
// other factors. (Launching a kernel takes the CPU as long as the GPU needs for a row.) Internal to
// core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/compute/layer_ops.h"
#include "core/decoder/decoder.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/sequence_pass.h"

namespace midscope {

// A recorded pass. It is stored in the trace whose rows the recorded work reads and writes.
class RecordedRows {
 public:
  // Records nothing yet. CanRecord must be true.
  explicit RecordedRows(const SequencePass& sequence);
  RecordedRows(const RecordedRows&) = delete;
  RecordedRows& operator=(const RecordedRows&) = delete;

  // Whether a pass of the sequence alone can be recorded: it re-runs rows up to the last one on one
  // device, from a layer above the first, no hook changes it, and it has scaled channels.
  static bool CanRecord(const SequencePass& sequence, const PassParts& parts);
  // Whether the sequence's pass differs from the recorded one only in factors.
  bool IsLike(const SequencePass& sequence) const;

  // Runs such a pass, after recording it if needed, and returns its logits on the device
  // (ForwardPass::LogitsFrom). Its rows are then in the trace and have been passed to hooks.
  // Returns an undefined tensor if the pass cannot be recorded.
  at::Tensor Run(const SequencePass& sequence, const PassParts& parts);
  int64_t starts() const { return starts_; }

 private:
  bool Record(const PassParts& parts);
  void Pass(const PassParts& parts);
  // Calls the hooks with the rows that the launched work outputs.
  void Show(const SequencePass& sequence) const;

  std::vector<int32_t> ids_;
  RunRequest request_;  // refers to ids_
  std::vector<int64_t> first_row_;
  std::vector<AttentionPlan> plans_;  // without factors
  std::map<std::pair<HookSite, int64_t>, RowRange> wanted_;
  at::Tensor amounts_;            // [channel]: of all layers in order, on the device
  at::Tensor logits_;             // an output of the recorded work
  std::vector<ShownRows> shown_;  // rows for hooks, also outputs
  std::unique_ptr<RecordedWork> work_;
  bool refused_ = false;
  int64_t starts_ = 0;
};

// Returns the sequences' logits from a recorded pass like theirs; if undefined, they must be run
// normally. A pass is recorded when the second one of its kind is requested.
at::Tensor RunRecorded(std::span<const SequencePass> sequences, const PassParts& parts);

}  // namespace midscope

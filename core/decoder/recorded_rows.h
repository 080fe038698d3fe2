// SPDX-License-Identifier: MIT
// The last rows of a trace, run again and again while the factors of scaled channels change and
// nothing else (a slider is dragged): what the device does is recorded once, and a run is then one
// start of it with other factors. A kernel's start costs a CPU as long as a GPU works for a row.
// Internal to core.
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

// In the trace, whose rows the recorded work reads and writes.
class RecordedRows {
 public:
  // Nothing is recorded yet. CanRecord must hold.
  explicit RecordedRows(const SequencePass& sequence);
  RecordedRows(const RecordedRows&) = delete;
  RecordedRows& operator=(const RecordedRows&) = delete;

  // Whether a pass of the sequence alone is of the kind: re-runs rows that end with the last one on
  // one device, from some layer above the first on, is changed by no hook, and has scaled channels.
  static bool CanRecord(const SequencePass& sequence, const PassParts& parts);
  // Whether it differs from the recorded one in factors alone.
  bool IsLike(const SequencePass& sequence) const;

  // Logits of such a pass, on the device (ForwardPass::LogitsFrom), which is recorded first where
  // that was not done; the trace has its rows then, and hooks got theirs. Undefined where it can't
  // be recorded.
  at::Tensor Run(const SequencePass& sequence, const PassParts& parts);
  int64_t starts() const { return starts_; }

 private:
  bool Record(const PassParts& parts);
  void Pass(const PassParts& parts);
  // Calls the hooks with the rows that the launched work shows.
  void Show(const SequencePass& sequence) const;

  std::vector<int32_t> ids_;
  RunRequest request_;  // of ids_
  std::vector<int64_t> first_row_;
  std::vector<AttentionPlan> plans_;  // without factors
  std::map<std::pair<HookSite, int64_t>, RowRange> wanted_;
  at::Tensor amounts_;            // of all channels in the order of layers, on the device
  at::Tensor logits_;             // what the recorded work writes
  std::vector<ShownRows> shown_;  // the same
  std::unique_ptr<RecordedWork> work_;
  bool refused_ = false;
  int64_t starts_ = 0;
};

// The logits of the sequences, from the recorded pass of similar ones, or undefined: they must be
// run. A pass is recorded when the second one of its kind is requested.
at::Tensor RunRecorded(std::span<const SequencePass> sequences, const PassParts& parts);

}  // namespace midscope

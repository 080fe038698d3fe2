// SPDX-License-Identifier: MIT
// Repeats a pass over the last rows of a trace while only the factors of scaled channels change (a
// slider is dragged). The device's work is recorded once (on a GPU as a CUDA graph); each run
// launches it as a whole with new factors. (Launching a kernel takes the CPU as long as the GPU
// needs for a row.) Internal to core.
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
  // Prepares a recording of the sequence's pass, but records nothing yet. CanRecord must be true.
  explicit RecordedRows(const SequencePass& sequence);
  RecordedRows(const RecordedRows&) = delete;
  RecordedRows& operator=(const RecordedRows&) = delete;

  // Whether a pass of this single sequence can be recorded. It must re-run rows up to the last one
  // on one device, begin above layer 0, scale channels, and have no hook that writes.
  static bool CanRecord(const SequencePass& sequence, const PassParts& parts);
  // Whether the sequence's pass differs from the recorded one only in scaling factors.
  bool IsLike(const SequencePass& sequence) const;

  // Runs a pass for which IsLike is true, after recording it if needed, and returns its logits on
  // the device (ForwardPass::LogitsFrom). Its rows have then been stored in the trace and passed to
  // hooks. Returns an undefined tensor if the pass cannot be recorded.
  at::Tensor Run(const SequencePass& sequence, const PassParts& parts);
  int64_t starts() const { return starts_; }

 private:
  bool Record(const PassParts& parts);
  void Pass(const PassParts& parts);
  // Calls the hooks with the rows that the launched work has computed.
  void Show(const SequencePass& sequence) const;

  std::vector<int32_t> ids_;
  RunRequest request_;  // refers to ids_
  std::vector<int64_t> first_row_;
  std::vector<AttentionPlan> plans_;  // without factors
  std::map<std::pair<HookSite, int64_t>, RowRange> wanted_;
  at::Tensor amounts_;            // [channel]: 1 - factor, layer by layer, on the device
  at::Tensor logits_;             // an output of the recorded work
  std::vector<ShownRows> shown_;  // rows for hooks; outputs of the recorded work
  std::unique_ptr<RecordedWork> work_;
  bool refused_ = false;
  int64_t starts_ = 0;
};

// Runs the sequences by a recorded pass and returns their logits. If the result is undefined, the
// caller must run them normally. A pass is recorded when the second one of its kind is requested.
at::Tensor RunRecorded(std::span<const SequencePass> sequences, const PassParts& parts);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// One sequence's state during a pass over a packed batch. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/decoder/patch_hook.h"
#include "core/decoder/trace_storage.h"
#include "core/plan/attention_plan.h"

namespace midscope {

class ShownCopies;
struct ShownRows;

// One sequence in a pass. The current layer computes its active rows [active_first, rows), possibly
// none; in the packed batch they start at packed_begin. Earlier rows are in the trace.
struct SequencePass {
  const RunRequest* request = nullptr;
  int64_t index = 0;  // index within the batch
  int64_t rows = 0;   // length of the whole sequence
  int64_t prompt_tokens = 0;
  // [layer]: the first row that differs from the trace, and the first that is computed. first_row
  // equals changed_row, except that it is 0 in layers that the trace has dropped, and earlier if
  // layers with a mixer start at a stored state (mixer_step.h). The value `rows` means no row.
  std::vector<int64_t> changed_row;
  std::vector<int64_t> first_row;
  int64_t end_layer = 0;  // this layer and those above are not run
  int64_t active_first = 0;
  // The first active row whose layer output is computed. In the last layer that has its own keys,
  // earlier rows, which are not requested, only get keys and values.
  int64_t first_needed_row = 0;
  int64_t packed_begin = 0;
  // The layer whose projection wrote its keys and values directly to the trace; -1: none.
  int64_t stored_layer = -1;
  Trace* trace = nullptr;  // the request's trace, or `scratch`
  std::unique_ptr<Trace> scratch;
  // Guards (BorrowedRows) of overwritten keys and values that later layers still read.
  std::vector<std::shared_ptr<void>> lent;
  std::vector<AttentionPlan> plans;         // plans of this run, [layer]
  std::vector<AttentionPlan> frozen_plans;  // the trace's plans, from earlier runs
  std::unique_ptr<PatchHook> patches;       // for `plans`; null: none
  std::unique_ptr<HookTable> hooks;
  ShownCopies* copies = nullptr;  // the pass's copies for hooks
  // [layer]: 1 - factor of each channel of the plan's row_override, on the layer's device. If
  // empty, the plan's factors are used.
  std::vector<at::Tensor> channel_amounts;
  // If not null, the pass is being recorded (recorded_rows.h): its results do not exist yet, and
  // this receives the rows that hooks requested.
  std::vector<ShownRows>* recorded = nullptr;

  // Whether computed rows are stored in the trace.
  bool keeps() const { return !request->rerun || request->rerun->keep; }
  int64_t active_rows() const { return rows - active_first; }
  // Returns the first row whose logits are requested.
  int64_t first_logit_row() const {
    return request->first_logit_row >= 0 ? request->first_logit_row
                                         : std::min(prompt_tokens, rows) - 1;
  }
  // Returns the first row whose logits are requested and that the last layer computes.
  int64_t first_reported_row() const { return std::max(first_logit_row(), active_first); }
  int64_t last_query() const { return prompt_tokens - 1; }
  bool Runs(int64_t layer) const {
    return layer < end_layer && first_row[static_cast<size_t>(layer)] < rows;
  }
  // Returns the first layer that this pass runs; at least one layer must run.
  int64_t FirstLayer() const {
    int64_t layer = 0;
    while (!Runs(layer)) ++layer;
    return layer;
  }
};

}  // namespace midscope

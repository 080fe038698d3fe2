// SPDX-License-Identifier: MIT
// One sequence's state during a pass over a packed batch. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/hook_table.h"
#include "core/decoder/patch_hook.h"
#include "core/decoder/shown_copies.h"
#include "core/decoder/trace_storage.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Rows of the sequence that the current layer computes are [active_first, rows), possibly none; in
// the packed batch they start at packed_begin. Rows before active_first are in the trace.
struct SequencePass {
  const RunRequest* request = nullptr;
  int64_t index = 0;  // within the batch
  int64_t rows = 0;   // of the whole sequence
  int64_t prompt_tokens = 0;
  // [layer]: the first row that differs from the trace, and the first that is computed. The latter
  // equals the former, or is 0 in layers that the trace has dropped; `rows`: none.
  std::vector<int64_t> changed_row;
  std::vector<int64_t> first_row;
  int64_t end_layer = 0;  // layers from this one on are not run
  int64_t active_first = 0;
  // The first active row whose output of the layer is computed; earlier rows, which are not
  // requested, have only keys and values in the last layer.
  int64_t first_needed_row = 0;
  int64_t packed_begin = 0;
  // The layer whose keys and values of the active rows are in the trace from their projection on.
  int64_t stored_layer = -1;
  Trace* trace = nullptr;  // the request's, or `scratch`
  std::unique_ptr<Trace> scratch;
  std::vector<AttentionPlan> plans;         // this run's, [layer]
  std::vector<AttentionPlan> frozen_plans;  // the trace's, from before
  std::unique_ptr<PatchHook> patches;       // of `plans`; null: none
  std::unique_ptr<HookTable> hooks;
  ShownCopies* copies = nullptr;  // the pass's, for the hooks
  // [layer], of its plan's row_override: 1 - factor of each channel, on the layer's device, instead
  // of the plan's. Empty: the plan's are taken.
  std::vector<at::Tensor> channel_amounts;
  // Not null: the pass is recorded (recorded_rows.h), so that what it computes is not there yet,
  // and this receives the rows that hooks requested.
  std::vector<ShownRows>* recorded = nullptr;

  // Whether the rows that are computed go into the trace.
  bool keeps() const { return !request->rerun || request->rerun->keep; }
  int64_t active_rows() const { return rows - active_first; }
  // The first requested row of logits.
  int64_t first_logit_row() const {
    return request->first_logit_row >= 0 ? request->first_logit_row
                                         : std::min(prompt_tokens, rows) - 1;
  }
  // The first of them that the last layer computes.
  int64_t first_reported_row() const { return std::max(first_logit_row(), active_first); }
  int64_t last_query() const { return prompt_tokens - 1; }
  bool Runs(int64_t layer) const {
    return layer < end_layer && first_row[static_cast<size_t>(layer)] < rows;
  }
  // The first layer that runs; one must.
  int64_t FirstLayer() const {
    int64_t layer = 0;
    while (!Runs(layer)) ++layer;
    return layer;
  }
};

}  // namespace midscope

// SPDX-License-Identifier: MIT
// A guard that restores rows of a trace. Internal to core.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/decoder/sequence_pass.h"
#include "core/decoder/trace_storage.h"

namespace midscope {

// A guard that saves rows of a layer's keys and values, which a run overwrites in the trace.
// Return() or the destructor writes them back. No effect if the trace keeps the new rows.
class BorrowedRows {
 public:
  BorrowedRows(const SequencePass& sequence, int64_t layer)
      : trace_(*sequence.trace), first_row_(sequence.active_first) {
    if (sequence.keeps()) return;
    const Trace::Storage& store = trace_.storage();
    Save(sequence, store.Keys(layer));
    Save(sequence, store.Values(layer));
    if (!store.projected_keys.empty()) Save(sequence, store.ProjectedKeys(layer));
    if (!store.projected_values.empty()) Save(sequence, store.ProjectedValues(layer));
  }
  // Writes the saved rows back; if the device fails, truncates the trace to the rows before.
  ~BorrowedRows() {
    try {
      Return();
    } catch (...) {
      trace_.Truncate(first_row_);
    }
  }
  BorrowedRows(const BorrowedRows&) = delete;
  BorrowedRows& operator=(const BorrowedRows&) = delete;

  // Writes the saved rows back. Throws the exceptions of LibTorch.
  void Return() {
    for (; !saved_.empty(); saved_.pop_back()) saved_.back().first.copy_(saved_.back().second);
  }

 private:
  void Save(const SequencePass& sequence, const at::Tensor& all) {
    const at::Tensor rows = all.narrow(0, first_row_, sequence.active_rows());
    saved_.emplace_back(rows, rows.clone());
  }

  Trace& trace_;
  int64_t first_row_;
  std::vector<std::pair<at::Tensor, at::Tensor>> saved_;  // the rows in the trace; their saved copy
};

}  // namespace midscope

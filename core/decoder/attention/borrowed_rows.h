// SPDX-License-Identifier: MIT
// Internal to core.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/decoder/sequence_pass.h"
#include "core/decoder/trace_storage.h"

namespace midscope {

// The computed rows of a layer's keys and values in a trace that stays as it is. Return() writes
// the previous rows back; without it the destructor does. No effect where the trace keeps the new
// rows.
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
  // Where a device fails in this too, the trace is cut back to the rows before.
  ~BorrowedRows() {
    try {
      Return();
    } catch (...) {
      trace_.Truncate(first_row_);
    }
  }
  BorrowedRows(const BorrowedRows&) = delete;
  BorrowedRows& operator=(const BorrowedRows&) = delete;

  // Throws LibTorch's exceptions.
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
  std::vector<std::pair<at::Tensor, at::Tensor>> saved_;  // in the trace; what was there
};

}  // namespace midscope

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

// The computed rows of a layer's keys and values in a trace that is to stay as it is: they come
// back when this goes. Nothing where the trace keeps the new ones.
class BorrowedRows {
 public:
  BorrowedRows(const SequencePass& sequence, int64_t layer) {
    if (sequence.keeps()) return;
    const Trace::Storage& store = sequence.trace->storage();
    Save(sequence, store.Keys(layer));
    Save(sequence, store.Values(layer));
    if (!store.projected_keys.empty()) Save(sequence, store.ProjectedKeys(layer));
    if (!store.projected_values.empty()) Save(sequence, store.ProjectedValues(layer));
  }
  ~BorrowedRows() {
    for (const auto& [rows, before] : saved_) rows.copy_(before);
  }
  BorrowedRows(const BorrowedRows&) = delete;
  BorrowedRows& operator=(const BorrowedRows&) = delete;

 private:
  void Save(const SequencePass& sequence, const at::Tensor& all) {
    const at::Tensor rows = all.narrow(0, sequence.active_first, sequence.active_rows());
    saved_.emplace_back(rows, rows.clone());
  }

  std::vector<std::pair<at::Tensor, at::Tensor>> saved_;  // in the trace; what was there
};

}  // namespace midscope

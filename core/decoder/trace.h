// SPDX-License-Identifier: MIT
// The state of a run that later runs reuse: per layer the residual stream that enters it, keys
// (before rotation and channel scaling) and values; if the model normalises or clamps keys or
// values, also their unprocessed projections, to which channel scaling applies. Generation and
// what-if use it as their cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"
#include "kernels/types.h"

namespace midscope {

// A trace stores the state of layers with a mixer before every kStateRows-th row.
inline constexpr int64_t kStateRows = 512;

// The contents of a trace that determine its size.
struct TraceParts {
  bool residual = true;     // false: keys and values only
  int64_t first_layer = 0;  // layers below it are dropped
  int64_t mean_heads = 0;   // heads in stored layers whose outputs are summed, for their mean
  int64_t memories = 0;     // stored layers with a compressive memory
};

class Trace {
 public:
  struct Storage;  // tensors; defined where LibTorch is used
  Trace(std::unique_ptr<Storage> storage, int64_t capacity, bool residual, int64_t first_layer = 0);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  int64_t rows() const { return rows_; }  // number of rows that every layer holds
  int64_t capacity() const { return capacity_; }
  bool has_residual() const { return residual_; }
  // Returns the first stored layer; 0: every layer is stored. A change in a layer below it runs all
  // rows of the layers below it again, from the embeddings up.
  int64_t first_layer() const { return first_layer_; }
  // Drops the data of the layers below `layer` (< layers), permanently. Requires a trace with
  // residual.
  void DropLayersBelow(int64_t layer);
  int64_t bytes() const;
  // Drops the rows from index `rows` on; the next run computes them again.
  void Truncate(int64_t rows);
  // Replaces the contents by the first `rows` rows and the plans of another sequence's trace.
  // Throws std::logic_error if `donor` has fewer rows or CanTakeFrom returns false, and
  // DeviceError.
  void TakeRows(const Trace& donor, int64_t rows);
  // Whether `donor`, a trace of the same model, stores everything that this one stores.
  bool CanTakeFrom(const Trace& donor) const;
  // Returns the attention plans with which the stored rows were computed, with resolved position
  // ratios; empty before the first run.
  const std::vector<AttentionPlan>& plans() const { return plans_; }
  int64_t prompt_tokens() const { return prompt_tokens_; }

  // Returns one channel of the residual stream before `layer` (if `layer` is the number of layers:
  // after the last) at every position: [rows] float32. Throws std::logic_error if that layer is
  // dropped, and DeviceError if its device is lost.
  std::vector<float> Channel(int64_t layer, int64_t channel) const;

  Storage& storage() { return *storage_; }
  const Storage& storage() const { return *storage_; }
  // Called by the decoder after a run has stored rows.
  void Set(int64_t rows, int64_t prompt_tokens, std::vector<AttentionPlan> plans);

 private:
  std::unique_ptr<Storage> storage_;
  int64_t capacity_ = 0;
  int64_t rows_ = 0;
  int64_t prompt_tokens_ = 0;
  bool residual_ = false;
  int64_t first_layer_ = 0;
  std::vector<AttentionPlan> plans_;
};

// Returns the bytes of a trace per row; compressive memories have a fixed size and are not
// included. Layers that are not stored share one buffer per device; `devices` is the number of
// devices of these layers.
int64_t TraceBytesPerRow(const ModelConfig& config, kernels::Dtype dtype,
                         const TraceParts& parts = {}, int64_t devices = 1);
// Returns the bytes of the states of stored layers with a mixer.
int64_t MixerStateBytes(const ModelConfig& config, int64_t rows, int64_t first_layer);
// Returns the bytes of one layer's compressive memory: a matrix and a vector per key-value head,
// float32.
int64_t MemoryBytes(const ModelConfig& config);

}  // namespace midscope

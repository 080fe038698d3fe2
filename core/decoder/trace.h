// SPDX-License-Identifier: MIT
// The state of a run that later runs reuse: per layer the residual stream that enters it, keys
// (before rotation and channel scaling) and values; both also as projected where the model
// normalises or clamps them, because channel scaling acts before that. It is the cache of
// generation and of what-if.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"
#include "kernels/types.h"

namespace midscope {

// The parts of a trace.
struct TraceParts {
  bool residual = true;     // false: keys and values only
  int64_t first_layer = 0;  // layers below it are dropped
  int64_t mean_heads = 0;   // heads in kept layers whose outputs are summed, for their mean
  int64_t memories = 0;     // kept layers with a compressive memory
};

class Trace {
 public:
  struct Storage;  // tensors; defined where LibTorch is used
  Trace(std::unique_ptr<Storage> storage, int64_t capacity, bool residual, int64_t first_layer = 0);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  int64_t rows() const { return rows_; }  // rows held by every layer
  int64_t capacity() const { return capacity_; }
  bool has_residual() const { return residual_; }
  // Layers below this one are not kept: a change in them runs all their rows again, from the tokens
  // up. 0: every layer is kept.
  int64_t first_layer() const { return first_layer_; }
  // Drops the data of the layers below `layer` (< layers), permanently. Requires a trace with
  // residual.
  void DropLayersBelow(int64_t layer);
  int64_t bytes() const;
  // Drops rows from `rows` on; the next run computes them.
  void Truncate(int64_t rows);
  // Replaces the content by the first `rows` rows of another sequence's trace and its plans. Throws
  // std::logic_error where `donor` has fewer rows or CanTakeFrom returns false, DeviceError.
  void TakeRows(const Trace& donor, int64_t rows);
  // Whether `donor`, of the same model, keeps everything that this one does.
  bool CanTakeFrom(const Trace& donor) const;
  // The plans under which its rows were computed (empty before the first run), with resolved
  // position ratios.
  const std::vector<AttentionPlan>& plans() const { return plans_; }
  int64_t prompt_tokens() const { return prompt_tokens_; }

  // Residual stream entering `layer` (layer = number of layers: leaving the last), channel by
  // position, as float32. [rows]. Throws std::logic_error where that layer is dropped,
  // DeviceError where its device is lost.
  std::vector<float> Channel(int64_t layer, int64_t channel) const;

  Storage& storage() { return *storage_; }
  const Storage& storage() const { return *storage_; }
  // Called by the decoder, when a run has filled rows.
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

// Bytes of a trace per row; memories have a fixed size and are not included. Layers that are not
// kept share working memory, once per device: `devices` is the number of devices of those layers.
int64_t TraceBytesPerRow(const ModelConfig& config, kernels::Dtype dtype,
                         const TraceParts& parts = {}, int64_t devices = 1);
// Bytes of one layer's compressive memory: a matrix and a vector per key-value head, float32.
int64_t MemoryBytes(const ModelConfig& config);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Passes rows of tensors to hooks in host memory: the tensor itself if it is there, else a copy of
// the requested rows. Hooks that read get the copy once it is finished (ShownCopies); hooks that
// write get it immediately, and it is copied back. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "core/compute/layer_ops.h"
#include "core/decoder/hooks.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"

namespace midscope {

// Passes values [rows, width] to the hooks, as [1, pos, width] or, if `heads` > 0, as [1, pos,
// head, width / heads]. They begin at absolute row first_row and may have any row stride.
void ShowRows(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
              int64_t first_row, kernels::Dtype dtype, const at::Tensor& values, int64_t heads = 0);

// Passes attention weights [query, head, key], float32 and contiguous, to the hooks as [1, head,
// query, key]. Query 0 is absolute row first_row. The tensor must not be overwritten later.
void ShowWeights(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
                 int64_t first_row, const at::Tensor& weights);

// Passes attention weights in host memory to hooks, whatever the layer's device.
void ShowHostWeights(const SequencePass& sequence, const HookPoint& point, int64_t first_row,
                     const at::Tensor& weights);

// Returns the first row whose output the layer must compute. That is the first active row, but in
// the last layer with its own keys and the layers above, the first row that logits, hooks or ratio
// rules need: for earlier rows only keys and values are computed there.
int64_t FirstNeededRow(const ModelConfig& config, const SequencePass& sequence, int64_t layer);

// Copies of rows that hooks requested, some of which a device may still be writing. Waiting for
// each copy would leave the device idle; instead, hooks get the rows of a layer while the device
// computes the next one.

// Requested rows that are still on their device; `view` describes the future copy for hooks.
struct ShownRows {
  HookView view;
  at::Tensor rows;
};

class ShownCopies {
 public:
  ShownCopies() = default;
  ShownCopies(const ShownCopies&) = delete;
  ShownCopies& operator=(const ShownCopies&) = delete;
  ~ShownCopies();

  // Starts copying `source` to host memory, and stores `view`, which refers to the copy, for the
  // hooks. `steady`: `source` is not overwritten later, so that a GPU can copy it while it
  // computes. Rows that take much memory are passed to hooks immediately.
  void Add(const HookTable& hooks, const HookView& view, const at::Tensor& source,
           const at::Tensor& copy, bool steady);
  // Calls the hooks with all rows of layers below `layer`, in the order in which they were added,
  // each once its copy is finished.
  void TellBelow(int64_t layer);
  void TellAll();
  bool empty() const { return kept_.empty(); }

 private:
  struct Kept {
    const HookTable* hooks;
    HookView view;
    at::Tensor source;  // the rows on the device, until they are copied
    at::Tensor copy;
    std::optional<c10::Event> made;  // empty: already finished
  };
  void TellFirst();
  // Releases a copy without calling the hooks.
  static void Abandon(Kept& kept) noexcept;
  // Returns a CUDA stream of the GPU that is used only for copies.
  c10::Stream Beside(at::Device gpu);

  std::deque<Kept> kept_;
  int64_t bytes_ = 0;
  std::map<at::DeviceIndex, c10::Stream> beside_;
};

}  // namespace midscope

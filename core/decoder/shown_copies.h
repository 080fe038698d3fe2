// SPDX-License-Identifier: MIT
// Copies of rows that hooks requested, some of which a device may still be writing. Waiting for
// each copy would leave the device idle; instead, hooks get the rows of a layer while the device
// computes the next one. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "core/decoder/hook_table.h"

namespace midscope {

// Rows that hooks requested, on their device; `view` refers to a copy that does not exist yet.
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
    at::Tensor source;  // until it is copied
    at::Tensor copy;
    std::optional<c10::Event> made;  // empty: already finished
  };
  void TellFirst();
  // Releases a copy whose hooks are not called.
  static void Abandon(Kept& kept) noexcept;
  // Returns a stream of the GPU that is used only for copies.
  c10::Stream Beside(at::Device gpu);

  std::deque<Kept> kept_;
  int64_t bytes_ = 0;
  std::map<at::DeviceIndex, c10::Stream> beside_;
};

}  // namespace midscope

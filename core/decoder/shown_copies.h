// SPDX-License-Identifier: MIT
// Copies of rows that hooks requested, which a device may still be making. A pass that waited for
// each of them would leave the device without work: hooks get the rows of a layer while the device
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

// Rows that hooks requested, on their device: `view` is of a copy that is not made yet.
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

  // Starts the copy of `source` to host memory, and keeps `view`, which is of the copy, for the
  // hooks. `steady`: nothing writes to `source` later, so that a GPU copies beside what it computes
  // next. Hooks get rows that take much memory at once.
  void Add(const HookTable& hooks, const HookView& view, const at::Tensor& source,
           const at::Tensor& copy, bool steady);
  // Calls the hooks with all rows of layers below `layer`, in the order in which they were added,
  // each when its copy is made.
  void TellBelow(int64_t layer);
  void TellAll();
  bool empty() const { return kept_.empty(); }

 private:
  struct Kept {
    const HookTable* hooks;
    HookView view;
    at::Tensor source;  // until it is copied
    at::Tensor copy;
    std::optional<c10::Event> made;  // empty: at once
  };
  void TellFirst();
  // Lets go of a copy whose hooks are not called.
  static void Abandon(Kept& kept) noexcept;
  // A stream of the GPU for copies alone.
  c10::Stream Beside(at::Device gpu);

  std::deque<Kept> kept_;
  int64_t bytes_ = 0;
  std::map<at::DeviceIndex, c10::Stream> beside_;
};

}  // namespace midscope

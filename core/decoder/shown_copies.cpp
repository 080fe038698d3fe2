// SPDX-License-Identifier: MIT
#include "core/decoder/shown_copies.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace midscope {
namespace {

// Limit on the size of pending copies: the channels of a layer at all positions take about as much.
constexpr int64_t kMostBytes = int64_t{256} << 20;

}  // namespace

c10::Stream ShownCopies::Beside(at::Device gpu) {
  const auto found = beside_.find(gpu.index());
  if (found != beside_.end()) return found->second;
  const c10::impl::VirtualGuardImpl streams(gpu.type());
  return beside_.emplace(gpu.index(), streams.getStreamFromGlobalPool(gpu)).first->second;
}

void ShownCopies::Add(const HookTable& hooks, const HookView& view, const at::Tensor& source,
                      const at::Tensor& copy, bool steady) {
  Kept& kept = kept_.emplace_back(Kept{&hooks, view, source, copy, std::nullopt});
  bytes_ += static_cast<int64_t>(copy.nbytes());
  const at::Device device = source.device();
  if (device.is_cpu()) {
    copy.copy_(source);
  } else {
    const c10::Stream computing = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
    const c10::Stream copying = steady ? Beside(device) : computing;
    if (steady) {
      c10::Event computed(device.type());
      computed.record(computing);
      computed.block(copying);
    }
    const c10::StreamGuard guard(copying);
    copy.copy_(source, /*non_blocking=*/true);
    kept.made.emplace(device.type());
    kept.made->record(copying);
  }
  if (bytes_ > kMostBytes) TellAll();
}

ShownCopies::~ShownCopies() {
  while (!kept_.empty()) {
    Abandon(kept_.front());
    kept_.pop_front();
  }
}

// If a GPU was lost, LibTorch ends the program when pinned memory to which it copied is freed; that
// memory is therefore never freed.
void ShownCopies::Abandon(Kept& kept) noexcept {
  if (!kept.made) return;
  try {
    kept.made->synchronize();
  } catch (...) {
    kept.copy.unsafeReleaseTensorImpl();
  }
}

void ShownCopies::TellFirst() {
  Kept kept = std::move(kept_.front());
  kept_.pop_front();
  bytes_ -= static_cast<int64_t>(kept.copy.nbytes());
  try {
    if (kept.made) kept.made->synchronize();
    kept.hooks->Call(kept.view);
  } catch (...) {
    Abandon(kept);
    throw;
  }
}

void ShownCopies::TellBelow(int64_t layer) {
  while (!kept_.empty() && kept_.front().view.point.layer < layer) TellFirst();
}

void ShownCopies::TellAll() {
  while (!kept_.empty()) TellFirst();
}

}  // namespace midscope

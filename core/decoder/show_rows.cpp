// SPDX-License-Identifier: MIT
#include "core/decoder/show_rows.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <utility>

namespace midscope {
namespace {

void CallInHostMemory(const SequencePass& sequence, HookView view, const at::Tensor& values) {
  sequence.copies->TellAll();
  view.data = values.data_ptr();
  sequence.hooks->Call(view);
}

HookView ViewOfWeights(const SequencePass& sequence, const HookPoint& point, int64_t first_row) {
  HookView view;
  view.point = point;
  view.sequence = sequence.index;
  view.first_row = first_row;
  view.dtype = kernels::Dtype::kFloat32;
  view.dimensions = 4;
  return view;
}

void SetShapeOfWeights(HookView& view, const at::Tensor& weights) {
  view.shape = {1, weights.size(1), weights.size(0), weights.size(2)};
  view.strides = {0, weights.size(2), weights.size(1) * weights.size(2), 1};
}

// Calls the hooks with `view`, after setting its data and shape from values [rows, ...]; values on
// a device are copied first. `steady`: `values` are not overwritten later.
template <typename Shape>
void Show(const LayerOps& ops, const SequencePass& sequence, HookView view,
          const at::Tensor& values, bool steady, const Shape& shape) {
  if (ops.host_memory()) {
    shape(view, values);
    return CallInHostMemory(sequence, view, values);
  }
  const RowRange wanted = sequence.hooks->Wanted(view.point.site, view.point.layer);
  const int64_t first = std::max(wanted.first, view.first_row);
  const int64_t last = std::min(wanted.last, view.first_row + values.size(0));
  if (first >= last) return;
  const at::Tensor part = values.narrow(0, first - view.first_row, last - first);
  view.first_row = first;
  if (sequence.recorded) {
    const at::Tensor kept = steady ? part.contiguous() : part.clone(at::MemoryFormat::Contiguous);
    shape(view, kept);
    sequence.recorded->push_back({view, kept});
    return;
  }
  // A GPU writes directly to pinned memory, which LibTorch reuses for the next copy.
  const at::Tensor copy =
      at::empty(part.sizes(), part.options().device(at::kCPU).pinned_memory(part.is_cuda()));
  shape(view, copy);
  view.data = copy.data_ptr();
  sequence.copies->Add(*sequence.hooks, view, part, copy, steady);
  if (!sequence.hooks->Writes(view.point.site, view.point.layer)) return;
  sequence.copies->TellAll();
  part.copy_(copy);
}

}  // namespace

void ShowRows(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
              int64_t first_row, kernels::Dtype dtype, const at::Tensor& values, int64_t heads) {
  HookView view;
  view.point = point;
  view.sequence = sequence.index;
  view.first_row = first_row;
  view.dtype = dtype;
  Show(ops, sequence, view, values, /*steady=*/false,
       [heads](HookView& shown, const at::Tensor& rows) {
         if (heads > 0) {
           const int64_t width = rows.size(1) / heads;
           shown.dimensions = 4;
           shown.shape = {1, rows.size(0), heads, width};
           shown.strides = {0, rows.stride(0), width, 1};
         } else {
           shown.dimensions = 3;
           shown.shape = {1, rows.size(0), rows.size(1), 1};
           shown.strides = {0, rows.stride(0), 1, 0};
         }
       });
}

void ShowWeights(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
                 int64_t first_row, const at::Tensor& weights) {
  Show(ops, sequence, ViewOfWeights(sequence, point, first_row), weights, /*steady=*/true,
       SetShapeOfWeights);
}

void ShowHostWeights(const SequencePass& sequence, const HookPoint& point, int64_t first_row,
                     const at::Tensor& weights) {
  HookView view = ViewOfWeights(sequence, point, first_row);
  SetShapeOfWeights(view, weights);
  CallInHostMemory(sequence, view, weights);
}

int64_t FirstNeededRow(const ModelConfig& config, const SequencePass& sequence, int64_t layer) {
  // All rows are needed if rows depend on other rows' outputs or on projections of all rows, or if
  // the trace stores residual rows, which are read later.
  const auto reads_all = [](const AttentionPlan& plan) {
    return plan.row_override || plan.memory || !plan.edits.ablated.empty() ||
           plan.residual.TakesMeans();
  };
  if (sequence.trace->has_residual() || sequence.active_rows() == 0 ||
      std::any_of(sequence.plans.begin() + layer, sequence.plans.end(), reads_all)) {
    return sequence.active_first;
  }
  int64_t needed = std::min({sequence.first_logit_row(), sequence.last_query(),
                             sequence.hooks->FirstWanted(HookSite::kPatternUnrotated, layer)});
  for (int64_t above = layer + 1; above < config.layers; ++above) {
    if (config.MixesRows(above) && !config.SharesKeys(above)) return sequence.active_first;
    needed = std::min(needed, sequence.hooks->FirstWanted(HookSite::kResidPre, above));
  }
  return std::clamp(needed, sequence.active_first, sequence.rows - 1);
}

namespace {

// Limit on the bytes of pending copies: about the residual stream of one layer at all rows.
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

// SPDX-License-Identifier: MIT
// The operations of CudaOps that process rows separately, such as norms and activations.
#include "core/compute/cuda/cuda_ops.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/ScopeExit.h>

#include <bit>
#include <stdexcept>

#include "core/compute/cuda/cuda_graph.h"
#include "kernels/cuda/launch.h"

namespace midscope {
namespace {

// Whether kernels can read rows of x [rows, width] in whole, aligned chunks.
bool HasWholeChunks(const at::Tensor& x) {
  return x.size(1) % kernels::cuda::kChunk == 0 && RowsAreAligned(x);
}

bool IsWhole(const at::Tensor& x) { return x.is_contiguous() && HasWholeChunks(x); }

// Whether the norm's kernel can write the additional outputs `keeps` of a norm of x.
bool CanKeep(const NormKeeps& keeps, const at::Tensor& x) {
  const auto fits = [](const at::Tensor& of) { return !of.defined() || of.is_contiguous(); };
  return fits(keeps.mean) && fits(keeps.scale) &&
         (!keeps.input.defined() ||
          (IsWhole(keeps.input) && keeps.input.scalar_type() == x.scalar_type()));
}

}  // namespace

bool RowsAreAligned(const at::Tensor& x) {
  constexpr int64_t kAligned = 16;
  return x.stride(1) == 1 && x.stride(0) % kernels::cuda::kChunk == 0 &&
         reinterpret_cast<uintptr_t>(x.const_data_ptr()) % kAligned == 0;
}

template <class T>
void CudaOps::NormaliseAs(NormKind kind, const at::Tensor& x, const at::Tensor* update,
                          const Norm& norm, float epsilon, const at::Tensor& out,
                          const NormKeeps& keeps) const {
  kernels::cuda::NormaliseArguments<T> arguments;
  arguments.x = static_cast<T*>(x.data_ptr());
  if (update) arguments.update = static_cast<const T*>(update->const_data_ptr());
  arguments.weight = OnDevice(norm.weight).const_data_ptr<float>();
  if (!norm.bias.empty()) arguments.bias = OnDevice(norm.bias).const_data_ptr<float>();
  arguments.out = static_cast<T*>(out.data_ptr());
  if (keeps.mean.defined()) arguments.mean = keeps.mean.data_ptr<float>();
  if (keeps.scale.defined()) arguments.scale = keeps.scale.data_ptr<float>();
  if (keeps.input.defined()) arguments.kept = static_cast<T*>(keeps.input.data_ptr());
  arguments.rows = x.size(0);
  arguments.width = x.size(1);
  arguments.epsilon = epsilon;
  arguments.centred = kind == NormKind::kLayer;
  kernels::cuda::Normalise(arguments);
}

std::unique_ptr<RecordedWork> CudaOps::Record(const std::function<void()>& work) const {
  std::vector<at::Tensor> read;
  recorded_ = &read;
  const auto end = c10::make_scope_exit([this] { recorded_ = nullptr; });
  return RecordGraph(device(), work, read);
}

void CudaOps::CheckNotRecorded() const {
  if (recorded_) throw std::runtime_error("a copy from host memory cannot be recorded");
}

void CudaOps::Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                        const at::Tensor& out, const NormKeeps& keeps) const {
  if (!IsWhole(x) || !IsWhole(out) || !CanKeep(keeps, x) || x.scalar_type() != out.scalar_type()) {
    AtenOps::Normalise(kind, x, norm, epsilon, out, keeps);
    return;
  }
  const c10::DeviceGuard guard(device());
  WithTypeOf(x, [&]<class T>(T) { NormaliseAs<T>(kind, x, nullptr, norm, epsilon, out, keeps); });
}

void CudaOps::AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                           const Norm& norm, float epsilon, const at::Tensor& out,
                           const NormKeeps& keeps) const {
  if (!IsWhole(residual) || !IsWhole(update) || !IsWhole(out) || !CanKeep(keeps, residual) ||
      residual.scalar_type() != update.scalar_type() ||
      residual.scalar_type() != out.scalar_type()) {
    AtenOps::AddNormalise(kind, residual, update, norm, epsilon, out, keeps);
    return;
  }
  const c10::DeviceGuard guard(device());
  WithTypeOf(residual, [&]<class T>(T) {
    NormaliseAs<T>(kind, residual, &update, norm, epsilon, out, keeps);
  });
}

void CudaOps::NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                             const at::Tensor& out) const {
  const int64_t head_dim = x.size(1) / norm.heads;
  if (head_dim % kernels::cuda::kChunk != 0 || !RowsAreAligned(x) || !RowsAreAligned(out) ||
      x.scalar_type() != out.scalar_type()) {
    AtenOps::NormaliseHeads(x, norm, out);
    return;
  }
  const c10::DeviceGuard guard(device());
  WithTypeOf(x, [&]<class T>(T) {
    kernels::cuda::HeadNormArguments<T> arguments;
    arguments.x = DataOf<T>(x);
    arguments.weight = OnDevice(norm.weight).const_data_ptr<float>();
    arguments.out = static_cast<T*>(out.data_ptr());
    arguments.x_stride = x.stride(0);
    arguments.out_stride = out.stride(0);
    arguments.rows = x.size(0);
    arguments.heads = norm.heads;
    arguments.head_dim = static_cast<int>(head_dim);
    arguments.weight_stride = static_cast<int64_t>(norm.weight.size()) > head_dim ? head_dim : 0;
    arguments.epsilon = norm.epsilon;
    arguments.centred = norm.kind == NormKind::kLayer;
    kernels::cuda::NormaliseHeads(arguments);
  });
}

void CudaOps::NormaliseColumn(const at::Tensor& column, const NormOfColumn& norm,
                              const ColumnFactor& factor, const at::Tensor& out) const {
  const c10::DeviceGuard guard(device());
  const auto data_of = [](const at::Tensor& x) {
    return x.defined() ? x.const_data_ptr<float>() : nullptr;
  };
  WithTypeOf(column, [&]<class T>(T) {
    kernels::cuda::NormalisedColumnArguments<T> arguments;
    arguments.column = DataOf<T>(column);
    arguments.mean = data_of(norm.mean);
    arguments.scale = data_of(norm.scale);
    arguments.out = out.data_ptr<float>();
    arguments.stride = column.stride(0);
    arguments.rows = column.size(0);
    arguments.weight = norm.weight;
    arguments.bias = norm.bias;
    arguments.factor = factor.value;
    arguments.factor_on_gpu = data_of(factor.on_device);
    kernels::cuda::NormalisedColumn(arguments);
  });
}

void CudaOps::Activate(Activation activation, bool gated, const at::Tensor& x,
                       const at::Tensor& out) const {
  if (!HasWholeChunks(x) || !HasWholeChunks(out) || x.scalar_type() != out.scalar_type()) {
    AtenOps::Activate(activation, gated, x, out);
    return;
  }
  const c10::DeviceGuard guard(device());
  WithTypeOf(x, [&]<class T>(T) {
    kernels::cuda::ActivateArguments<T> arguments;
    arguments.gate = static_cast<const T*>(x.const_data_ptr());
    if (gated) arguments.up = arguments.gate + out.size(1);
    arguments.out = static_cast<T*>(out.data_ptr());
    arguments.x_stride = x.stride(0);
    arguments.out_stride = out.stride(0);
    arguments.rows = x.size(0);
    arguments.width = out.size(1);
    arguments.kind = ActivationKindOf(activation);
    kernels::cuda::Activate(arguments);
  });
}

void CudaOps::RankOneUpdate(const at::Tensor& x, const at::Tensor& amount,
                            const at::Tensor& direction, const at::Tensor& out) const {
  if (!HasWholeChunks(x) || !HasWholeChunks(out) || x.scalar_type() != out.scalar_type() ||
      !amount.is_contiguous() || !direction.is_contiguous()) {
    AtenOps::RankOneUpdate(x, amount, direction, out);
    return;
  }
  const c10::DeviceGuard guard(device());
  WithTypeOf(x, [&]<class T>(T) {
    kernels::cuda::RankOneArguments<T> arguments;
    arguments.x = static_cast<const T*>(x.const_data_ptr());
    arguments.amount = amount.const_data_ptr<float>();
    arguments.direction = direction.const_data_ptr<float>();
    arguments.out = static_cast<T*>(out.data_ptr());
    arguments.x_stride = x.stride(0);
    arguments.out_stride = out.stride(0);
    arguments.rows = x.size(0);
    arguments.width = x.size(1);
    kernels::cuda::RankOneUpdate(arguments);
  });
}

void CudaOps::SplitRows(const at::Tensor& from, const at::Tensor& first,
                        const at::Tensor& second) const {
  const auto fits = [&](const at::Tensor& half) {
    return HasWholeChunks(half) && half.scalar_type() == from.scalar_type();
  };
  if (!HasWholeChunks(from) || !fits(first) || !fits(second)) {
    LayerOps::SplitRows(from, first, second);
    return;
  }
  const c10::DeviceGuard guard(device());
  using kernels::cuda::Words;
  const int64_t of_word = static_cast<int64_t>(sizeof(Words)) / from.element_size();
  kernels::cuda::SplitRowsArguments arguments;
  arguments.from = static_cast<const Words*>(from.const_data_ptr());
  arguments.first = static_cast<Words*>(first.data_ptr());
  arguments.second = static_cast<Words*>(second.data_ptr());
  arguments.from_stride = from.stride(0) / of_word;
  arguments.first_stride = first.stride(0) / of_word;
  arguments.second_stride = second.stride(0) / of_word;
  arguments.rows = from.size(0);
  arguments.words = first.size(1) / of_word;
  kernels::cuda::SplitRows(arguments);
}

std::vector<TopToken> CudaOps::TopTokens(const at::Tensor& logits, int64_t k) const {
  const int64_t rows = logits.size(0);
  const int64_t columns = logits.size(1);
  if (!logits.is_contiguous() || logits.scalar_type() != at::kFloat ||
      !kernels::cuda::HasTopRows(columns, k)) {
    return LayerOps::TopTokens(logits, k);
  }
  const c10::DeviceGuard guard(device());
  const auto options = logits.options();
  const at::Tensor kept =
      at::empty({rows, kernels::cuda::TopParts(columns), k}, options.dtype(at::kLong));
  // Ids and logits are in one tensor, so that the host waits once.
  const at::Tensor found = at::empty({2, rows, k}, options.dtype(at::kInt));
  kernels::cuda::TopRowsArguments parts;
  parts.values = logits.const_data_ptr<float>();
  parts.kept = static_cast<uint64_t*>(kept.data_ptr());
  parts.rows = rows;
  parts.columns = columns;
  parts.top = static_cast<int>(k);
  kernels::cuda::TopRows(parts);
  auto* ids = found.data_ptr<int32_t>();
  kernels::cuda::MergeTop({parts, ids, reinterpret_cast<float*>(ids + rows * k)});
  const at::Tensor on_host = found.cpu();
  const auto* id = on_host.const_data_ptr<int32_t>();
  std::vector<TopToken> top(static_cast<size_t>(rows * k));
  for (size_t i = 0; i < top.size(); ++i)
    top[i] = {id[i], std::bit_cast<float>(id[i + top.size()])};
  return top;
}

}  // namespace midscope

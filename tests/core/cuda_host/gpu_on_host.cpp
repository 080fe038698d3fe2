// SPDX-License-Identifier: MIT
// Replaces the GPU-only parts of LibTorch that CudaOps uses: flash and cuDNN attention by matrix
// products, and replayed recordings by calling the work again.
#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <exception>
#include <limits>
#include <memory>

#include "core/compute/aten_ops.h"
#include "core/compute/cuda/cuda_graph.h"
#include "core/compute/cuda/cuda_library_attention.h"
#include "tests/core/cuda_host/kernels_on_host.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope {
namespace {

// Counts calls of Tensor::to with a device, which copy from host memory where there is a GPU.
std::unique_ptr<at::ObserverContext> CountCopies(const at::RecordFunction& called) {
  const auto name = called.operator_name();
  if (name && name->name == "aten::to" && name->overload_name == "dtype_layout")
    ++test::recorded_copies;
  return nullptr;
}

}  // namespace

// Weights are rounded to the dtype of the values before they are multiplied, as on tensor cores.
FlashResult FlashAttention(const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values, int64_t window, double scale) {
  const int64_t group = queries.size(2) / keys.size(2);
  const auto heads_first = [](const at::Tensor& x) { return x.to(at::kFloat).transpose(1, 2); };
  const at::Tensor k = heads_first(keys).repeat_interleave(group, 1);
  const at::Tensor v = heads_first(values).repeat_interleave(group, 1);
  at::Tensor logits = at::matmul(heads_first(queries), k.transpose(2, 3)).mul_(scale);
  const int64_t rows = queries.size(1);
  const at::Tensor row_ids = at::arange(keys.size(1) - rows, keys.size(1)).unsqueeze(1);
  const at::Tensor key_ids = at::arange(keys.size(1)).unsqueeze(0);
  at::Tensor hidden = key_ids > row_ids;
  if (window > 0) hidden = hidden.logical_or(key_ids <= row_ids - window);
  logits.masked_fill_(hidden, -std::numeric_limits<float>::infinity());
  const at::Tensor sums = logits.logsumexp(3);
  const at::Tensor weights =
      logits.sub_(sums.unsqueeze(3)).exp_().to(values.scalar_type()).to(at::kFloat);
  return {at::matmul(weights, v).transpose(1, 2).contiguous().to(queries.scalar_type()), sums};
}

at::Tensor CudnnAttention(const at::Tensor& queries, const at::Tensor& keys,
                          const at::Tensor& values, double scale) {
  return FlashAttention(queries, keys, values, 0, scale).z;
}

std::unique_ptr<RecordedWork> RecordGraph(at::Device device, const std::function<void()>& work,
                                          const std::vector<at::Tensor>&) {
  if (!test::refuse_graphs) return AtenOps(device).Record(work);
  ++test::refused_graphs;
  test::skip_kernels = true;
  // Memory that no kernel has written is not a number.
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  const at::CallbackHandle counting =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&CountCopies));
  try {
    work();
  } catch (const std::exception&) {
    ++test::thrown_recordings;
  }
  at::removeCallback(counting);
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/true);
  test::skip_kernels = false;
  return nullptr;
}

}  // namespace midscope

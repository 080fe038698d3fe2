// SPDX-License-Identifier: MIT
#include "core/tuning/shared_gradients.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace midscope {
namespace {

// Small gradients are sent together, in buffers of about this many values.
constexpr int64_t kBufferValues = int64_t{1} << 22;

void SumFlat(const std::vector<at::Tensor>& gradients, ProcessGroup& processes) {
  if (gradients.empty()) return;
  std::vector<at::Tensor> parts;
  parts.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) parts.push_back(gradient.flatten().to(at::kCPU));
  at::Tensor flat = at::cat(parts);
  processes.Sum({flat.data_ptr<float>(), static_cast<size_t>(flat.numel())});
  int64_t first = 0;
  for (const at::Tensor& gradient : gradients) {
    gradient.copy_(flat.narrow(0, first, gradient.numel()).view_as(gradient));
    first += gradient.numel();
  }
}

}  // namespace

void SumGradients(const std::vector<at::Tensor>& parameters, ProcessGroup& processes) {
  if (processes.size() == 1) return;
  std::vector<float> with_gradient;  // [parameter]: number of processes where it has one
  std::transform(
      parameters.begin(), parameters.end(), std::back_inserter(with_gradient),
      [](const at::Tensor& parameter) { return parameter.grad().defined() ? 1.0F : 0.0F; });
  processes.Sum(with_gradient);
  std::vector<at::Tensor> waiting;
  int64_t values = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (with_gradient[i] == 0) continue;
    at::Tensor& gradient = parameters[i].mutable_grad();
    if (!gradient.defined()) gradient = at::zeros_like(parameters[i]);
    waiting.push_back(gradient);
    values += gradient.numel();
    if (values < kBufferValues) continue;
    SumFlat(waiting, processes);
    waiting.clear();
    values = 0;
  }
  SumFlat(waiting, processes);
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/tuning/tuning_optimizer.h"

#include <ATen/ATen.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// As in torch.nn.utils.clip_grad_norm_.
constexpr double kNormEpsilon = 1e-6;

torch::optim::AdamWOptions OptionsOf(const OptimizerSettings& settings) {
  return torch::optim::AdamWOptions(settings.rate)
      .betas({settings.beta_1, settings.beta_2})
      .eps(settings.epsilon)
      .weight_decay(settings.weight_decay);
}

double NormOf(const std::vector<at::Tensor>& gradients) {
  double squares = 0;
  for (const at::Tensor& gradient : gradients)
    squares += gradient.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(squares);
}

}  // namespace

TuningOptimizer::TuningOptimizer(std::vector<at::Tensor> parameters,
                                 const OptimizerSettings& settings)
    : parameters_(std::move(parameters)),
      settings_(settings),
      adam_w_(std::make_unique<torch::optim::AdamW>(parameters_, OptionsOf(settings))) {}

TuningOptimizer::~TuningOptimizer() = default;

double TuningOptimizer::RateOf(int64_t step) const {
  const auto share = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  };
  if (step < settings_.warm_up) return settings_.rate * share(step, settings_.warm_up);
  return settings_.rate *
         std::max(0.0, share(settings_.steps - step, settings_.steps - settings_.warm_up));
}

double TuningOptimizer::Step() {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  const double norm = NormOf(gradients);
  if (!std::isfinite(norm)) {
    throw Failure("gradients",
                  "in step " + std::to_string(steps_done_ + 1) + " they are not finite",
                  "Use a lower rate, or dtype float32");
  }
  if (settings_.largest_norm > 0) {
    const double factor = std::min(1.0, settings_.largest_norm / (norm + kNormEpsilon));
    for (at::Tensor& gradient : gradients) gradient.mul_(factor);
  }
  for (torch::optim::OptimizerParamGroup& group : adam_w_->param_groups())
    group.options().set_lr(RateOf(steps_done_));
  adam_w_->step();
  adam_w_->zero_grad();
  ++steps_done_;
  return norm;
}

std::vector<ParameterMoments> TuningOptimizer::Moments() const {
  std::vector<ParameterMoments> moments;
  for (const at::Tensor& parameter : parameters_) {
    ParameterMoments& added = moments.emplace_back();
    const auto found = adam_w_->state().find(parameter.unsafeGetTensorImpl());
    if (found == adam_w_->state().end()) continue;
    const auto& state = static_cast<const torch::optim::AdamWParamState&>(*found->second);
    added = {state.exp_avg(), state.exp_avg_sq(), state.step()};
  }
  return moments;
}

void TuningOptimizer::Continue(int64_t steps_done, const std::vector<ParameterMoments>& moments) {
  MIDSCOPE_CHECK(moments.size() == parameters_.size(), "one per parameter");
  for (size_t i = 0; i < moments.size(); ++i) {
    if (!moments[i].mean.defined()) continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    const auto copied = [device = parameters_[i].device()](const at::Tensor& moment) {
      return moment.detach().to(device, /*non_blocking=*/false, /*copy=*/true);
    };
    state->exp_avg(copied(moments[i].mean));
    state->exp_avg_sq(copied(moments[i].square));
    state->step(moments[i].steps);
    adam_w_->state()[parameters_[i].unsafeGetTensorImpl()] = std::move(state);
  }
  steps_done_ = steps_done;
}

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

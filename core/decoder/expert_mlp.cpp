// SPDX-License-Identifier: MIT
#include "core/decoder/expert_mlp.h"

#include <ATen/ATen.h>

#include <span>
#include <vector>

#include "core/decoder/activated_mlp.h"
#include "core/decoder/expert_choice.h"
#include "core/decoder/project.h"

namespace midscope {
namespace {

// Rows of router logits for one thread.
constexpr int64_t kGrain = 16;

// One MLP's output for x [rows, hidden].
at::Tensor RunMlp(const ExpertStep& step, const MlpWeights& mlp, const at::Tensor& x) {
  const at::Tensor post = ActivatedMlp(step.ops, step.config, mlp, {}, x, step.context);
  return Projected(step.ops, post, mlp.down, step.context);
}

at::Tensor RunShared(const ExpertStep& step, const at::Tensor& x) {
  at::Tensor shared = RunMlp(step, step.weights.shared, x).to(at::kFloat);
  if (!step.config.experts.shared_gate) return shared;
  const at::Tensor gate = at::empty({x.size(0), 1}, x.options().dtype(at::kFloat));
  ProjectToFloat(step.ops, x, step.weights.shared_gate, gate, step.context);
  return shared.mul_(gate.sigmoid_());
}

// [expert]: the rows that use it, in order.
std::vector<std::vector<int64_t>> RowsOfExperts(const at::Tensor& weights) {
  const int64_t experts = weights.size(1);
  const auto* weight = weights.const_data_ptr<float>();
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(experts));
  for (int64_t row = 0; row < weights.size(0); ++row) {
    for (std::vector<int64_t>& of_expert : rows) {
      if (*weight++ != 0.0f) of_expert.push_back(row);
    }
  }
  return rows;
}

}  // namespace

at::Tensor RouteRows(const ExpertStep& step, const at::Tensor& x) {
  const ExpertSettings& settings = step.config.experts;
  at::Tensor weights = at::empty({x.size(0), settings.count}, x.options().dtype(at::kFloat));
  ProjectToFloat(step.ops, x, step.weights.router, weights, step.context);
  if (settings.score == ExpertScore::kSoftmax) weights = weights.to(x.scalar_type());
  weights = weights.to(at::kFloat).cpu();
  auto* values = weights.data_ptr<float>();
  const auto count = static_cast<size_t>(settings.count);
  step.context.executor.For(x.size(0), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      ChooseExperts(settings, step.weights.choice_bias,
                    std::span<float>(values + row * settings.count, count));
    }
  });
  return weights;
}

void RunExperts(const ExpertStep& step, const at::Tensor& x, const at::Tensor& weights,
                const at::Tensor& y) {
  const auto floats = x.options().dtype(at::kFloat);
  at::Tensor sum = step.config.experts.shared_width > 0
                       ? RunShared(step, x)
                       : at::zeros({x.size(0), step.config.hidden}, floats);
  const std::vector<std::vector<int64_t>> rows_of = RowsOfExperts(weights);
  for (size_t expert = 0; expert < rows_of.size(); ++expert) {
    if (rows_of[expert].empty()) continue;
    step.context.job.ThrowIfCancelled();
    const at::Tensor rows = at::tensor(rows_of[expert], at::kLong);
    const at::Tensor weight = weights.select(1, static_cast<int64_t>(expert)).index_select(0, rows);
    const at::Tensor there = rows.to(x.device());
    const at::Tensor factor = weight.to(x.device()).unsqueeze(1);
    at::Tensor in = x.index_select(0, there);
    if (step.config.experts.scales_input) in = in.to(at::kFloat).mul_(factor).to(x.scalar_type());
    const at::Tensor out = RunMlp(step, step.weights.experts[expert], in).to(at::kFloat);
    sum.index_add_(0, there, step.config.experts.scales_input ? out : out.mul(factor));
  }
  y.copy_(sum);
}

}  // namespace midscope

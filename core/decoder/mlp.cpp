// SPDX-License-Identifier: MIT
#include "core/decoder/mlp.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/decoder/expert_choice.h"
#include "core/decoder/project.h"
#include "core/model/model_config.h"

namespace midscope {
namespace {

// The gated activation of gpt-oss: sets out [rows, width] to Activation::kClampedSwiglu of x [rows,
// gate then up, 2 width], in any floating type, on any device; computed in float32.
void ApplyClampedSwiglu(const ClampedSwiglu& settings, const at::Tensor& x, const at::Tensor& out) {
  const int64_t width = out.size(1);
  const at::Tensor gate = x.narrow(1, 0, width).to(at::kFloat).clamp_max(settings.limit);
  const at::Tensor up =
      x.narrow(1, width, width).to(at::kFloat).clamp(-settings.limit, settings.limit);
  out.copy_(up.add(1.0).mul_(gate).mul_(gate.mul(settings.gain).sigmoid_()));
}

double Softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// The activation of Apertus, whose settings are learned separately for each layer: replaces x
// [rows, width], in any floating type, on any device; computed in float32.
void ApplyXielu(const XieluSettings& settings, const at::Tensor& x) {
  const double positive = Softplus(settings.alpha_positive);
  const double negative = settings.beta + Softplus(settings.alpha_negative);
  const at::Tensor values = x.to(at::kFloat);
  const at::Tensor above = values.square().mul_(positive);
  const at::Tensor below = values.clamp_max(settings.epsilon).expm1_().sub_(values).mul_(negative);
  x.copy_(at::where(values > 0, above, below).add_(values, settings.beta));
}

bool HasKernel(Activation activation) {
  return activation != Activation::kXielu && activation != Activation::kClampedSwiglu;
}

// Computes gates, ups and their activation by one operation of the device, if it has one (for few
// rows). Returns false if not.
bool ActivatedTogether(const LayerOps& ops, const ModelConfig& config, const Projection& gate_up,
                       const at::Tensor& x, const at::Tensor& post, const JobContext& job) {
  return !ops.host_memory() && HasKernel(config.activation) && gate_up.bias.empty() &&
         config.gate_scale == 1.0 &&
         gate_up.weight.MultiplyGatedOnDevice(x, ActivationKindOf(config.activation), post, job);
}

}  // namespace

at::Tensor ActivatedMlp(const LayerOps& ops, const ModelConfig& config, const MlpWeights& mlp,
                        const XieluSettings& xielu, const at::Tensor& x,
                        const ProductContext& context) {
  if (!config.gated_mlp) {
    at::Tensor up = Projected(ops, x, mlp.gate_up, context);
    // In place.
    if (config.activation == Activation::kXielu) {
      ApplyXielu(xielu, up);
    } else {
      ops.Activate(config.activation, /*gated=*/false, up, up);
    }
    return up;
  }
  at::Tensor post = at::empty({x.size(0), mlp.down.weight.inputs()}, x.options());
  if (ActivatedTogether(ops, config, mlp.gate_up, x, post, context.job)) return post;
  const at::Tensor gate_up = Projected(ops, x, mlp.gate_up, context);
  if (config.gate_scale != 1.0) gate_up.narrow(1, 0, post.size(1)).mul_(config.gate_scale);
  if (config.activation == Activation::kClampedSwiglu) {
    ApplyClampedSwiglu(config.clamped_swiglu, gate_up, post);
  } else {
    ops.Activate(config.activation, /*gated=*/true, gate_up, post);
  }
  return post;
}

namespace {

// Number of rows of router logits that a thread processes at a time.
constexpr int64_t kGrain = 16;

// Returns an MLP's output for x [rows, hidden].
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

// Returns [expert]: the rows that use the expert, in ascending order.
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

// The rows of a batch that use one expert, with their factors. For a single row, such as a token
// after a prompt, nothing is copied to the device.
class RowsOfExpert {
 public:
  // weights [rows]: the expert's weight in each row, in host memory.
  RowsOfExpert(const at::Tensor& x, const std::vector<int64_t>& ids, const at::Tensor& weights) {
    if (x.size(0) == 1) {
      factor_ = weights.item<float>();
      return;
    }
    const at::Tensor rows = at::tensor(ids, at::kLong);
    ids_ = rows.to(x.device());
    factors_ = weights.index_select(0, rows).to(x.device()).unsqueeze(1);
  }

  at::Tensor Of(const at::Tensor& x) const { return ids_.defined() ? x.index_select(0, ids_) : x; }
  // Returns the rows of `of_rows` multiplied by their factors, in float32.
  at::Tensor Scaled(const at::Tensor& of_rows) const {
    const at::Tensor floats = of_rows.to(at::kFloat);
    return factors_.defined() ? floats.mul(factors_) : floats.mul(factor_);
  }
  void AddTo(const at::Tensor& sum, const at::Tensor& of_rows) const {
    ids_.defined() ? sum.index_add_(0, ids_, of_rows) : sum.add_(of_rows);
  }

 private:
  at::Tensor ids_;      // indices of the rows; undefined if x has only one row
  at::Tensor factors_;  // [rows, 1] float32
  float factor_ = 1;
};

}  // namespace

at::Tensor RouteRows(const ExpertStep& step, const at::Tensor& x) {
  const ExpertSettings& settings = step.config.experts;
  at::Tensor weights = at::empty({x.size(0), settings.count}, x.options().dtype(at::kFloat));
  ProjectToFloat(step.ops, x, step.weights.router, weights, step.context);
  if (settings.score != ExpertScore::kSigmoid) weights = weights.to(x.scalar_type());
  weights = weights.to(at::kFloat).cpu();
  auto* values = weights.data_ptr<float>();
  const auto count = static_cast<size_t>(settings.count);
  step.context.executor.For(x.size(0), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      ChooseExperts(settings, step.weights.choice_bias,
                    std::span<float>(values + row * settings.count, count));
      for (size_t i = 0; i < step.weights.scale.size(); ++i)
        values[row * settings.count + static_cast<int64_t>(i)] *= step.weights.scale[i];
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
    const RowsOfExpert rows(x, rows_of[expert], weights.select(1, static_cast<int64_t>(expert)));
    const at::Tensor in =
        step.config.experts.scales_input ? rows.Scaled(rows.Of(x)).to(x.scalar_type()) : rows.Of(x);
    const at::Tensor out = RunMlp(step, step.weights.experts[expert], in);
    rows.AddTo(sum, step.config.experts.scales_input ? out.to(at::kFloat) : rows.Scaled(out));
  }
  y.copy_(sum);
}

}  // namespace midscope

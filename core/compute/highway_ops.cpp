// SPDX-License-Identifier: MIT
#include "core/compute/highway_ops.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include "core/compute/aten_ops.h"
#include "kernels/check.h"
#include "kernels/normalise.h"

namespace midscope {
namespace {

const float* BiasOf(const Norm& norm) { return norm.bias.empty() ? nullptr : norm.bias.data(); }

float* FloatsOf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

}  // namespace

kernels::ActivationKind ActivationKindOf(Activation activation) {
  switch (activation) {
    case Activation::kSilu:
      return kernels::ActivationKind::kSilu;
    case Activation::kGelu:
      return kernels::ActivationKind::kGelu;
    case Activation::kGeluTanh:
      return kernels::ActivationKind::kGeluTanh;
    case Activation::kRelu:
      return kernels::ActivationKind::kRelu;
    case Activation::kSquaredRelu:
      return kernels::ActivationKind::kSquaredRelu;
    case Activation::kXielu:
    case Activation::kClampedSwiglu:
      break;
  }
  MIDSCOPE_CHECK(false, "no kernel computes this (xielu.h, clamped_swiglu.h)");
  return kernels::ActivationKind::kSilu;
}

kernels::ConstHeads HighwayOps::Read(const at::Tensor& x, int64_t head_dim) const {
  return {x.data_ptr(), dtype_, x.stride(0), head_dim};
}

kernels::Heads HighwayOps::Write(const at::Tensor& x, int64_t head_dim) const {
  return {x.data_ptr(), dtype_, x.stride(0), head_dim};
}

at::Tensor HighwayOps::FewOnDevice(const std::vector<float>& values) const {
  return at::tensor(values);
}

void HighwayOps::Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                           const at::Tensor& out, const NormKeeps& keeps) const {
  if (keeps.input.defined()) keeps.input.copy_(x);
  if (kind == NormKind::kRms) {
    kernels::RmsNorm(x.data_ptr(), norm.weight.data(), epsilon, x.size(0), x.size(1), dtype_,
                     out.data_ptr(), FloatsOf(keeps.scale), executor_);
  } else {
    kernels::LayerNorm(x.data_ptr(), norm.weight.data(), BiasOf(norm), epsilon, x.size(0),
                       x.size(1), dtype_, out.data_ptr(), FloatsOf(keeps.mean),
                       FloatsOf(keeps.scale), executor_);
  }
}

void HighwayOps::AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                              const Norm& norm, float epsilon, const at::Tensor& out,
                              const NormKeeps& keeps) const {
  const int64_t rows = residual.size(0);
  const int64_t width = residual.size(1);
  if (kind == NormKind::kRms) {
    kernels::AddRmsNorm(residual.data_ptr(), update.data_ptr(), norm.weight.data(), epsilon, rows,
                        width, dtype_, out.data_ptr(), FloatsOf(keeps.scale), executor_);
  } else {
    kernels::AddLayerNorm(residual.data_ptr(), update.data_ptr(), norm.weight.data(), BiasOf(norm),
                          epsilon, rows, width, dtype_, out.data_ptr(), FloatsOf(keeps.mean),
                          FloatsOf(keeps.scale), executor_);
  }
  if (keeps.input.defined()) keeps.input.copy_(residual);
}

void HighwayOps::NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                                const at::Tensor& out) const {
  const int64_t width = x.size(1) / norm.heads;
  if (norm.kind != NormKind::kRms || static_cast<int64_t>(norm.weight.size()) != width) {
    NormaliseHeadsByAten(x, norm, at::tensor(norm.weight), out);
    return;
  }
  kernels::RmsNormHeads(Read(x, width), norm.weight.data(), norm.epsilon, x.size(0), norm.heads,
                        width, Write(out, width), executor_);
}

void HighwayOps::AddBias(const at::Tensor& x, const std::vector<float>& bias) const {
  kernels::AddBias(x.data_ptr(), x.stride(0), bias.data(), x.size(0), x.size(1), dtype_, executor_);
}

void HighwayOps::Add(const at::Tensor& residual, const at::Tensor& update) const {
  kernels::Add(residual.data_ptr(), update.data_ptr(), residual.numel(), dtype_, executor_);
}

void HighwayOps::Activate(Activation activation, bool gated, const at::Tensor& x,
                          const at::Tensor& out) const {
  const kernels::ActivationKind kind = ActivationKindOf(activation);
  if (gated) {
    kernels::GatedActivation(kind, x.data_ptr(), out.size(0), out.size(1), dtype_, out.data_ptr(),
                             executor_);
  } else {
    kernels::Activate(kind, x.data_ptr(), out.numel(), dtype_, out.data_ptr(), executor_);
  }
}

void HighwayOps::RankOneUpdate(const at::Tensor& x, const at::Tensor& amount,
                               const at::Tensor& direction, const at::Tensor& out) const {
  kernels::RankOneUpdate(x.data_ptr(), x.stride(0), amount.data_ptr<float>(),
                         direction.data_ptr<float>(), out.size(0), out.size(1), dtype_,
                         out.data_ptr(), out.stride(0), executor_);
}

bool HighwayOps::Attention(const kernels::AttentionShape& shape, const at::Tensor& q,
                           const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                           const at::Tensor& out, kernels::CancelFlag cancel) const {
  return kernels::Attention(shape, Read(q, shape.head_dim), Read(k, shape.head_dim),
                            Read(v, shape.head_dim), tables.Positions(), Write(out, shape.head_dim),
                            executor_, cancel);
}

at::Tensor HighwayOps::AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                                        const at::Tensor& k, const KeyUpdate& update,
                                        const RotaryTables& tables) const {
  const at::Tensor keys = Updated(k, update);
  at::Tensor weights = at::empty({shape.query_rows, shape.heads, shape.key_rows},
                                 at::TensorOptions().dtype(at::kFloat));
  kernels::AttentionWeights(shape, Read(q, shape.head_dim), Read(keys, shape.head_dim),
                            tables.Positions(), weights.data_ptr<float>(), executor_);
  return weights;
}

void HighwayOps::WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                                const at::Tensor& v, const at::Tensor& out) const {
  kernels::WeightedValues(shape, weights.data_ptr<float>(), Read(v, shape.head_dim),
                          Write(out, shape.head_dim), executor_);
}

std::vector<int64_t> HighwayOps::CountAttendedKeys(
    const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const {
  std::vector<int64_t> counts(static_cast<size_t>(weights.size(1)));
  kernels::CountAttendedKeys(weights.const_data_ptr<float>(), weights.size(1), weights.size(2),
                             threshold, counts.data());
  return counts;
}

}  // namespace midscope

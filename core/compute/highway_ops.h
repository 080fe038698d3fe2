// SPDX-License-Identifier: MIT
// Runs Midscope's own kernels on tensors in host memory. Internal to core.
#pragma once

#include "core/compute/layer_ops.h"

namespace midscope {

class HighwayOps : public LayerOps {
 public:
  // `executor` must outlive this object.
  HighwayOps(kernels::Dtype dtype, const kernels::Executor& executor)
      : dtype_(dtype), executor_(executor) {}

  at::Device device() const override { return at::Device(at::kCPU); }
  bool host_memory() const override { return true; }
  at::Tensor FewOnDevice(const std::vector<float>& values) const override;
  void Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                 const at::Tensor& out, const NormKeeps& keeps) const override;
  void AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                    const Norm& norm, float epsilon, const at::Tensor& out,
                    const NormKeeps& keeps) const override;
  void NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                      const at::Tensor& out) const override;
  void AddBias(const at::Tensor& x, const std::vector<float>& bias) const override;
  void Add(const at::Tensor& residual, const at::Tensor& update) const override;
  void Activate(Activation activation, bool gated, const at::Tensor& x,
                const at::Tensor& out) const override;
  void RankOneUpdate(const at::Tensor& x, const at::Tensor& amount, const at::Tensor& direction,
                     const at::Tensor& out) const override;
  bool Attention(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                 const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out,
                 kernels::CancelFlag cancel) const override;
  at::Tensor AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                              const at::Tensor& k, const KeyUpdate& update,
                              const RotaryTables& tables) const override;
  void WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                      const at::Tensor& v, const at::Tensor& out) const override;
  std::vector<int64_t> CountAttendedKeys(
      const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const override;

 private:
  kernels::ConstHeads Read(const at::Tensor& x, int64_t head_dim) const;
  kernels::Heads Write(const at::Tensor& x, int64_t head_dim) const;

  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
};

}  // namespace midscope

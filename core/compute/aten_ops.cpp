// SPDX-License-Identifier: MIT
#include "core/compute/aten_ops.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <ATen/ATen.h>

#include "kernels/check.h"

namespace midscope {

namespace {

// Number of rows of a weight matrix that are converted to float32 at a time.
constexpr int64_t kOutputChunk = 8192;

// Recorded work of devices that cannot record: calls the function at every launch.
class CalledWork : public RecordedWork {
 public:
  explicit CalledWork(std::function<void()> work) : work_(std::move(work)) {}
  void Start() const override { work_(); }

 private:
  std::function<void()> work_;
};

at::Tensor InverseRms(const at::Tensor& x, float epsilon) {
  return x.square().mean(-1, /*keepdim=*/true).add_(epsilon).rsqrt_();
}

}  // namespace

at::Tensor ActivatedByAten(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kGelu:
      return at::gelu(x, "none");
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kSquaredRelu:
      return at::relu(x).square();
    case Activation::kXielu:
    case Activation::kClampedSwiglu:
      break;
  }
  MIDSCOPE_CHECK(false, "no kernel computes this (xielu.h, clamped_swiglu.h)");
  return x;
}

void MultiplyByAten(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& y) {
  if (y.scalar_type() == x.scalar_type()) {
    at::Tensor out = y;
    at::mm_out(out, x, weight.t());
    return;
  }
  // A GPU's products of 16-bit numbers can return unrounded sums; LibTorch supports this on no
  // other device.
  if (x.is_cuda() && x.scalar_type() == weight.scalar_type() && y.scalar_type() == at::kFloat) {
    at::Tensor out = y;
    at::mm_out(out, x, weight.t(), at::kFloat);
    return;
  }
  const at::Tensor floats = x.to(at::kFloat);
  for (int64_t first = 0; first < weight.size(0); first += kOutputChunk) {
    const int64_t count = std::min(kOutputChunk, weight.size(0) - first);
    y.narrow(1, first, count)
        .copy_(at::mm(floats, weight.narrow(0, first, count).to(at::kFloat).t()));
  }
}

void NormaliseHeadsByAten(const at::Tensor& x, const HeadNorm& norm, const at::Tensor& weight,
                          const at::Tensor& out) {
  const int64_t head_dim = x.size(1) / norm.heads;
  const auto by_head = [&](const at::Tensor& rows) {
    return rows.view({rows.size(0), norm.heads, head_dim});
  };
  at::Tensor values = by_head(x).to(at::kFloat);
  if (norm.kind == NormKind::kLayer) values = values - values.mean(-1, /*keepdim=*/true);
  values = (values * InverseRms(values, norm.epsilon)).mul_(weight.view({-1, head_dim}));
  by_head(out).copy_(values);
}

at::Tensor AtenOps::Upload(const float* values, at::IntArrayRef shape) const {
  CheckNotRecorded();
  // from_blob does not accept a const pointer; the copy below only reads.
  const at::Tensor host =
      at::from_blob(const_cast<float*>(values), shape, at::TensorOptions().dtype(at::kFloat));
  return host.to(device_, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor AtenOps::OnDevice(const std::vector<float>& values) const {
  const auto sample = std::bit_cast<std::array<uint32_t, 3>>(
      std::array{values.front(), values[values.size() / 2], values.back()});
  auto found = vectors_.find(values.data());
  if (found == vectors_.end()) {
    at::Tensor copy = Upload(values.data(), {static_cast<int64_t>(values.size())});
    found = vectors_.insert({values.data(), {std::move(copy), sample}}).first;
  }
  const auto& [copy, copied] = found->second;
  MIDSCOPE_CHECK(copied == sample && copy.size(0) == static_cast<int64_t>(values.size()),
                 "a vector that was copied to the device was changed, moved or freed");
  return copy;
}

at::Tensor AtenOps::FewOnDevice(const std::vector<float>& values) const {
  at::Tensor copy = few_.Of(values, [this](const std::vector<float>& few) {
    return Upload(few.data(), {static_cast<int64_t>(few.size())});
  });
  KeepRecorded(copy);
  return copy;
}

std::unique_ptr<RecordedWork> AtenOps::Record(const std::function<void()>& work) const {
  return std::make_unique<CalledWork>(work);
}

void AtenOps::Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                        const at::Tensor& out, const NormKeeps& keeps) const {
  if (keeps.input.defined()) keeps.input.copy_(x);
  at::Tensor values = x.to(at::kFloat);
  if (kind == NormKind::kLayer) {
    const at::Tensor middle = values.mean(-1, /*keepdim=*/true);
    values = values - middle;
    if (keeps.mean.defined()) keeps.mean.copy_(middle.squeeze(-1));
  }
  // 1 / rms. For a layer norm this is 1 / standard deviation, because the mean has been subtracted.
  const at::Tensor inverse = InverseRms(values, epsilon);
  if (keeps.scale.defined()) keeps.scale.copy_(inverse.squeeze(-1));
  values = (values * inverse).mul_(OnDevice(norm.weight));
  if (!norm.bias.empty()) values.add_(OnDevice(norm.bias));
  out.copy_(values);
}

void AtenOps::AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                           const Norm& norm, float epsilon, const at::Tensor& out,
                           const NormKeeps& keeps) const {
  Add(residual, update);
  Normalise(kind, residual, norm, epsilon, out, keeps);
}

void AtenOps::NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                             const at::Tensor& out) const {
  NormaliseHeadsByAten(x, norm, OnDevice(norm.weight), out);
}

void AtenOps::AddBias(const at::Tensor& x, const std::vector<float>& bias) const {
  x.add_(OnDevice(bias));
}

void AtenOps::Add(const at::Tensor& residual, const at::Tensor& update) const {
  residual.add_(update);
}

void AtenOps::Activate(Activation activation, bool gated, const at::Tensor& x,
                       const at::Tensor& out) const {
  if (!gated) {
    out.copy_(ActivatedByAten(activation, x.to(at::kFloat)));
    return;
  }
  const int64_t width = out.size(1);
  const at::Tensor gate = ActivatedByAten(activation, x.narrow(1, 0, width).to(at::kFloat));
  out.copy_(gate * x.narrow(1, width, width));
}

void AtenOps::RankOneUpdate(const at::Tensor& x, const at::Tensor& amount,
                            const at::Tensor& direction, const at::Tensor& out) const {
  out.copy_(at::addcmul(x.to(at::kFloat), amount.unsqueeze(1), direction.unsqueeze(0), -1));
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "core/decoder/project.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/matrix_vector.h"

namespace midscope {

void Project(const LayerOps& ops, const at::Tensor& x, const Projection& projection,
             const at::Tensor& y, const ProductContext& context) {
  if (ops.host_memory()) {
    projection.weight.Multiply(x, y, context);
  } else {
    projection.weight.MultiplyOnDevice(x, y, context.job);
  }
  if (!projection.bias.empty()) ops.AddBias(y, projection.bias);
}

at::Tensor Projected(const LayerOps& ops, const at::Tensor& x, const Projection& projection,
                     const ProductContext& context) {
  if (ops.host_memory()) {
    at::Tensor y = projection.weight.Product(x, context);
    if (!projection.bias.empty()) ops.AddBias(y, projection.bias);
    return y;
  }
  at::Tensor y = at::empty({x.size(0), projection.weight.outputs()}, x.options());
  Project(ops, x, projection, y, context);
  return y;
}

void ProjectToFloat(const LayerOps& ops, const at::Tensor& x, const Projection& projection,
                    const at::Tensor& y, const ProductContext& context) {
  if (!ops.host_memory()) projection.weight.MultiplyOnDevice(x, y, context.job);
  for (int64_t first = 0; ops.host_memory() && first < x.size(0);
       first += kernels::kMatrixVectorRows) {
    context.job.ThrowIfCancelled();
    const int64_t rows = std::min(kernels::kMatrixVectorRows, x.size(0) - first);
    projection.weight.MultiplyFew(x.narrow(0, first, rows), y.narrow(0, first, rows).data_ptr(),
                                  kernels::Dtype::kFloat32, context.executor);
  }
  if (!projection.bias.empty()) y.add_(at::tensor(projection.bias).to(y.device()));
}

}  // namespace midscope

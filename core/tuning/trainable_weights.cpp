// SPDX-License-Identifier: MIT
#include "core/tuning/trainable_weights.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/compute/aten_executor.h"
#include "core/compute/weight_matrix.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

bool IsConstant(const std::string& name) {
  return name.ends_with(".choice_bias") || name.ends_with(".layer_scale") ||
         name.ends_with(".beta") || name.ends_with(".epsilon");
}

// Returns the tensor in host memory.
at::Tensor Dequantised(const ModelSource& source, const std::string& name,
                       const std::vector<int64_t>& shape, kernels::Dtype dtype) {
  const TensorRef* tensor = source.Find(name);
  if (tensor == nullptr) {
    throw Failure(source.path(), "tensor " + name + " is missing",
                  "The file is not whole, or of a variant that is not supported yet");
  }
  const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  if (tensor->rows * tensor->columns != size || tensor->columns != shape.back()) {
    throw Failure(source.path(), "tensor " + name + " does not have the shape " + ShapeText(shape),
                  "The file is damaged or made by a faulty converter");
  }
  WeightMatrix matrix(source.path(), {{tensor->NameOr(name), tensor}}, dtype);
  matrix.Expand(AtenExecutor());
  source.DontNeed(*tensor);
  return matrix.expanded().reshape(shape);
}

}  // namespace

NamedTensors LoadTrainableWeights(const ModelSource& source, kernels::Dtype dtype,
                                  at::Device device, const JobContext& context) {
  NamedTensors weights;
  const auto load = [&](const std::string& name, const std::vector<int64_t>& shape) {
    weights[name] =
        Dequantised(source, name, shape, dtype).to(device).set_requires_grad(!IsConstant(name));
  };
  const std::vector<NeededTensor> needed = NeededTensors(source.config());
  for (size_t i = 0; i < needed.size(); ++i) {
    context.ThrowIfCancelled();
    context.Report(
        {"load weights", static_cast<int64_t>(i), static_cast<int64_t>(needed.size()), "tensors"});
    const std::string name = needed[i].name();
    load(name, needed[i].shape);
    if (source.Find(name + ".bias") != nullptr) load(name + ".bias", {needed[i].shape.front()});
  }
  return weights;
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// A model's weights as separate tensors with gradients. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "core/base/job.h"
#include "core/model/model_source.h"
#include "kernels/types.h"

namespace midscope {

using NamedTensors = std::map<std::string, at::Tensor, std::less<>>;

// Returns the weights that the model's description requires (NeededTensors), and the biases that
// the file has, by the decoder's names (model_source.h), in the dtype and on the device; quantised
// ones are dequantised. Weights are as in the file: if norm_adds_one, norms do not include the one.
// All require gradients, except those that transformers does not train either: the bias for the
// choice of experts, and xIELU's beta and epsilon. Throws Error for a tensor that is missing, whose
// shape is not the described one or whose values are not finite, and Cancelled.
NamedTensors LoadTrainableWeights(const ModelSource& source, kernels::Dtype dtype,
                                  at::Device device, const JobContext& context = {});

}  // namespace midscope

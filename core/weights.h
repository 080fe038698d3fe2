// SPDX-License-Identifier: MIT
// A decoder's weights as LibTorch tensors, in the run's dtype. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/job.h"
#include "core/model_config.h"
#include "core/model_source.h"
#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope {

struct Norm {
  std::vector<float> weight;  // [width]; where files keep weight - 1, 1 has been added
  std::vector<float> bias;    // [width], or empty: none
};

// Projections that read the same input lie in one matrix, so that they cost one product.
struct Projection {
  at::Tensor weight;        // [outputs, inputs]
  std::vector<float> bias;  // [outputs], or empty: none
};

struct LayerWeights {
  Projection query_key_value;  // (heads + 2 key_value_heads) * head_dim outputs; q and k rows in
                               // half-split order
  Projection attention_out;    // heads * head_dim inputs
  Projection gate_up;          // 2 * feed_forward outputs; feed_forward (up) where not gated
  Projection down;             // feed_forward inputs
  Norm attention_norm;         // input norms; no weight where the model has none
  Norm mlp_norm;
  Norm attention_output_norm;  // output norms, likewise
  Norm mlp_output_norm;
  std::vector<float> query_norm;  // [head_dim] or [heads * head_dim]; empty: none
  std::vector<float> key_norm;    // [head_dim] or [key_value_heads * head_dim]
};

struct Weights {
  at::Tensor embedding;  // [vocabulary, hidden]
  Projection output;     // [vocabulary, hidden]; the embedding's tensor where tied
  Norm final_norm;
  std::vector<LayerWeights> layers;
};

at::ScalarType TorchType(kernels::Dtype dtype);

// Dequantises the source's tensors one by one into `dtype`. Throws Error on a tensor that is
// missing or has another shape than the source's description asks for, and on values that are not
// finite; Cancelled.
Weights LoadWeights(const ModelSource& source, kernels::Dtype dtype,
                    const kernels::Executor& executor, const JobContext& context);

}  // namespace midscope

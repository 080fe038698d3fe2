// SPDX-License-Identifier: MIT
// A llama decoder's weights as LibTorch tensors, in the run's dtype. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/gguf_file.h"
#include "core/job.h"
#include "core/model_config.h"
#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope {

// Matrices are [outputs, inputs]. Projections that read the same input lie in one matrix, so that
// they cost one product.
struct LayerWeights {
  at::Tensor query_key_value;  // [(heads + 2 key_value_heads) * head_dim, hidden], q and k rows in
                               // half-split order
  at::Tensor attention_out;    // [hidden, heads * head_dim]
  at::Tensor gate_up;          // [2 * feed_forward, hidden]
  at::Tensor down;             // [hidden, feed_forward]
  std::vector<float> attention_norm;  // [hidden]
  std::vector<float> mlp_norm;        // [hidden]
};

struct Weights {
  at::Tensor embedding;  // [vocabulary, hidden]
  at::Tensor output;     // [vocabulary, hidden]; the same tensor where tied
  std::vector<float> final_norm;
  std::vector<LayerWeights> layers;
};

at::ScalarType TorchType(kernels::Dtype dtype);

// Dequantises the file's tensors one by one into `dtype`; GGUF's interleaved rotary rows of q and k
// become half-split (seed-facts B.1). Throws Error on a tensor with values that are not finite;
// Cancelled.
Weights LoadWeights(const GgufFile& file, const ModelConfig& config, kernels::Dtype dtype,
                    const kernels::Executor& executor, const JobContext& context);

}  // namespace midscope

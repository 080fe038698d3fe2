// SPDX-License-Identifier: MIT
// A model whose forward pass is differentiable by LibTorch's autograd, for tuning and for gradients
// by place. It follows the same description (ModelConfig) and the same attention plans as the
// decoder, in LibTorch's operations.
//
// clang-format off
//   const auto source = OpenModel("embedded");
//   const DifferentiableModel model(*source, {});
//   const auto plans = TuningPlans(ParseIntervention("pi(4)"), position_ids, model.config(), tokens);
//   model.NextTokenLoss(ids, plans).backward();
//   model.weights().at("0.query").grad();                        // [heads * head_dim, hidden]
// clang-format on
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/model/model_config.h"
#include "core/model/model_source.h"
#include "core/plan/attention_plan.h"
#include "core/tuning/layer_tensors.h"
#include "core/tuning/lora.h"
#include "core/tuning/trainable_weights.h"
#include "kernels/types.h"

namespace midscope {

struct DifferentiableOptions {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  at::Device device = at::kCPU;
  // Whether layers keep only their inputs, and are computed again in the backward pass
  // (checkpointing.h): about a third more time, far less memory.
  bool checkpoints = false;
  // If it is set during a pass or its backward pass, that pass throws Cancelled. May be null.
  const std::atomic<bool>* cancel = nullptr;
};

// Which logits a pass computes, and the activations that its caller reads or replaces.
struct PassOptions {
  using Tap = std::function<at::Tensor(int64_t layer, const at::Tensor& values)>;

  int64_t first_logit_row = 0;  // logits of earlier tokens are not computed
  // Called with the input [token, hidden] of each layer (hook_resid_pre), and with the outputs
  // [head, token, width] of its heads (hook_z); the pass continues with the result. May be empty.
  // With checkpoints, `heads` is called again in the backward pass.
  Tap stream{};
  Tap heads{};
};

class DifferentiableModel {
 public:
  // Loads the weights; `source` need not outlive the model. Throws Error for a model whose
  // positions are not rotary, and in the cases of LoadTrainableWeights.
  DifferentiableModel(const ModelSource& source, const DifferentiableOptions& options,
                      const JobContext& context = {});

  const ModelConfig& config() const { return config_; }
  // Returns the weights by the decoder's names. They may be changed in place between passes.
  const NamedTensors& weights() const { return weights_; }

  // Adds the adapter to the passes that follow, in place of an earlier one; from then on only its
  // tensors have gradients. Throws std::logic_error if it adapts a matrix that the model lacks.
  void SetAdapter(LoraAdapter adapter);
  const LoraAdapter& adapter() const { return adapter_; }
  // Returns the tensors that have gradients, in the order of their names.
  std::vector<at::Tensor> Parameters() const;

  // Returns the stream [token, hidden] after the last block, before the final norm, with a graph
  // that leads to the weights and to what the taps of `pass` return. plans: as for Logits.
  at::Tensor FinalStream(std::span<const int32_t> ids, std::span<const AttentionPlan> plans,
                         const PassOptions& pass = {}) const;

  // Returns logits [token, vocabulary] in float32, from pass.first_logit_row on, with a graph that
  // leads to the weights and is valid while this model exists. plans [layer]: from TuningPlans for
  // this number of tokens.
  at::Tensor Logits(std::span<const int32_t> ids, std::span<const AttentionPlan> plans,
                    const PassOptions& pass = {}) const;

  // Returns the mean over tokens of the negative log likelihood of the next one, in nats: a scalar.
  // in_loss [token]: whether the token's own likelihood counts, which the first token's never does;
  // empty: it does. If none counts, the loss is 0. Logits are computed for tokens that count, some
  // rows at a time, and so are the gradients that flow back through them.
  at::Tensor NextTokenLoss(std::span<const int32_t> ids, std::span<const AttentionPlan> plans,
                           std::span<const uint8_t> in_loss = {}) const;

 private:
  using QueryKeyValue = std::tuple<at::Tensor, at::Tensor, at::Tensor>;  // [heads, token, width]
  // Keys before rotation, and values, [token, key-value head, head_dim], that later layers read.
  using LentKeys = std::map<int64_t, std::pair<at::Tensor, at::Tensor>>;
  struct BlockContext {
    PassOptions::Tap heads;
    at::Tensor layer_input;  // [token, layer_input_width], or undefined
    LentKeys* lent;
  };

  // Returns those whose names begin with this.
  std::vector<at::Tensor> ParametersOf(const std::string& prefix) const;

  // Returns logits [token, vocabulary] of the stream [token, hidden] after the last block.
  at::Tensor LogitsOf(const at::Tensor& stream) const;
  // Returns [token, layer, layer_input_width] from the token embeddings [token, hidden].
  at::Tensor LayerInputs(const at::Tensor& rows, const at::Tensor& embedded) const;
  // From the stream [token, hidden] to the stream.
  at::Tensor Block(const LayerTensors& layer, const at::Tensor& stream,
                   const BlockContext& context) const;
  // The sum of the outputs of attention and mixer, whichever the layer has.
  at::Tensor MixedUpdate(const LayerTensors& layer, const at::Tensor& x,
                         const BlockContext& context) const;
  at::Tensor Attention(const LayerTensors& layer, const at::Tensor& x,
                       const BlockContext& context) const;
  // Returns queries or keys [token, head, head_dim] before rotation, and after it.
  at::Tensor HeadsOf(const LayerTensors& layer, const std::string& name, int64_t heads,
                     const at::Tensor& x) const;
  at::Tensor Turned(const LayerTensors& layer, const std::string& name,
                    const at::Tensor& heads) const;
  bool NormsHeads(const LayerTensors& layer) const;
  QueryKeyValue Projections(const LayerTensors& layer, const at::Tensor& x, LentKeys* lent) const;
  QueryKeyValue LatentProjections(const LayerTensors& layer, const at::Tensor& x) const;
  at::Tensor Mixed(const std::string& prefix, const at::Tensor& x) const;
  at::Tensor Mlp(const std::string& prefix, const at::Tensor& x) const;
  at::Tensor ActivatedMlp(const std::string& prefix, const at::Tensor& x) const;
  at::Tensor Xielu(const std::string& prefix, const at::Tensor& x) const;
  at::Tensor ExpertWeights(const std::string& prefix, const at::Tensor& x) const;
  at::Tensor Experts(const std::string& prefix, const at::Tensor& x) const;
  at::Tensor Linear(const std::string& name, const at::Tensor& x) const;
  at::Tensor Norm(const std::string& name, const at::Tensor& x) const;
  at::Tensor HeadNorm(const std::string& name, const at::Tensor& x) const;

  at::Tensor Weight(const std::string& name) const;  // undefined if there is none
  at::Tensor NormWeight(const std::string& name) const;

  ModelConfig config_;
  DifferentiableOptions options_;
  NamedTensors weights_;
  LoraAdapter adapter_;  // no tensors: none
};

}  // namespace midscope

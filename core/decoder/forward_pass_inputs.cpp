// SPDX-License-Identifier: MIT
// The parts of a forward pass that read tokens: embeddings, and per-layer embeddings (gemma4).
#include "core/decoder/forward_pass.h"

#include <cmath>

#include <ATen/ATen.h>

#include "core/decoder/project.h"

namespace midscope {

void ForwardPass::Gather(const std::vector<SequencePass>& sequences, const WeightMatrix& table,
                         double scale, const at::Tensor& out) const {
  auto* to = static_cast<std::byte*>(out.data_ptr());
  for (const SequencePass& sequence : sequences) {
    table.Gather(sequence.request->ids.subspan(static_cast<size_t>(sequence.active_first),
                                               static_cast<size_t>(sequence.active_rows())),
                 to, executor_, context_);
    to += sequence.active_rows() * out.size(1) * kernels::SizeOf(dtype_);
  }
  // As in transformers, the factor is rounded to the run's dtype first.
  if (scale != 1.0) out.mul_(kernels::RoundedTo(dtype_, static_cast<float>(scale)));
}

// Both embedding tables are in host memory; the projection's weights are on the first device.
// Products are rounded as in transformers, where tensors are multiplied by Python numbers.
void ForwardPass::MakeLayerInputs(const std::vector<SequencePass>& sequences) {
  const int64_t width = config_.layer_input_width;
  if (width == 0) return;
  const auto options = at::TensorOptions().dtype(TorchType(dtype_));
  const at::Tensor usual = at::empty({packed_rows_, config_.hidden}, options);
  const at::Tensor of_layers = at::empty({packed_rows_, config_.layers * width}, options);
  Gather(sequences, weights_.embedding, config_.embedding_scale, usual);
  Gather(sequences, weights_.layer_embedding, std::sqrt(static_cast<double>(width)), of_layers);
  const LayerOps& ops = devices_.Of(0);
  const at::Tensor inputs = midscope::Projected(ops, usual.to(ops.device()),
                                                weights_.layer_projection, {executor_, context_});
  inputs.mul_(1 / std::sqrt(static_cast<double>(config_.hidden)));
  ops.NormaliseHeads(inputs,
                     {NormKind::kRms, config_.layers, weights_.layer_projection_norm,
                      static_cast<float>(config_.norm_epsilon)},
                     inputs);
  inputs.add_(of_layers.to(ops.device())).mul_(std::sqrt(0.5));
  layer_inputs_ = inputs.to(ops_->device());
}

void ForwardPass::AddLayerInput(std::vector<SequencePass>& sequences, int64_t layer, int64_t first,
                                const at::Tensor& stream) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const int64_t width = config_.layer_input_width;
  const int64_t rows = stream.size(0);
  const at::Tensor input = layer_inputs_.narrow(0, first, rows).narrow(1, layer * width, width);
  const at::Tensor post = Empty(rows, width);
  ops_->Activate(config_.activation, /*gated=*/true,
                 at::cat({Projected(stream, weights.layer_input_gate), input}, 1), post);
  const at::Tensor update = Projected(post, weights.layer_input_out);
  Normalise(update, weights.layer_input_norm, update);
  Show(sequences, HookSite::kLayerInputOut, layer, update, 0, first);
  ops_->Add(stream, update);
}

}  // namespace midscope

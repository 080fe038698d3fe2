// SPDX-License-Identifier: MIT
// The mixers of layers in tensor operations that have gradients: the gated delta rule,
// Mamba-2's state space and the gated convolution. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "core/model/model_config.h"

namespace midscope {

// The tensors of a layer's mixer, by their names after "N.mixer_".
struct MixerTensors {
  std::function<at::Tensor(const std::string& name)> weight;  // undefined if there is none
  std::function<at::Tensor(const std::string& name, const at::Tensor& x)> linear;
};

// Returns the update of the stream from the layer's normalised input x, both [token, hidden], as
// MixRows of the decoder.
at::Tensor MixTokens(const ModelConfig& config, const MixerTensors& tensors, const at::Tensor& x);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The schemes of quantised Hugging Face folders: which tensors make a matrix.
#pragma once

#include <map>
#include <string>

#include "core/formats/config_json.h"
#include "core/formats/quantised_matrix.h"
#include "core/formats/safetensors_header.h"

namespace midscope {

// Throws Error, with a remedy, if `config` (quantization_config) states a scheme that is not read.
void CheckQuantisation(const ConfigJson& config);

// Returns a sentence for the user if the scheme quantises activations too, which is not done here;
// otherwise an empty string.
std::string ActivationNote(const ConfigJson& config);

// Keyed by the matrix' name in a plain folder, "model.layers.0.mlp.up_proj.weight".
using QuantisedMatrices = std::map<std::string, QuantisedMatrix, std::less<>>;

// Removes the tensors of quantised matrices from `file`; the remaining ones are plain. Throws Error
// naming `thing` and the tensor if one is missing, or does not fit the others in shape or dtype.
QuantisedMatrices TakeQuantised(const ConfigJson& config, const std::string& thing,
                                SafetensorsTensors* file);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// The tensors of quantised Hugging Face folders: which of them make a matrix, and in which layout.
//
// Sources of the layouts, none of whose code is used:
//   fp8                 huggingface/transformers, integrations/finegrained_fp8.py
//   gptq                AutoGPTQ/AutoGPTQ, nn_modules/qlinear/qlinear_cuda_old.py, qlinear_cuda.py
//   awq                 casper-hansen/AutoAWQ, awq/utils/packing_utils.py, modules/linear/gemm.py
//   compressed-tensors  vllm-project/compressed-tensors, compressors/{pack,naive}_quantized
//   bitsandbytes        bitsandbytes-foundation/bitsandbytes, functional.py (QuantState)
#pragma once

#include <map>
#include <string>

#include "core/formats/quantised_matrix.h"
#include "core/formats/safetensors.h"
#include "core/model/quantisation_settings.h"

namespace midscope {

// Keyed by the matrix' name in a plain folder, "model.layers.0.mlp.up_proj.weight".
using QuantisedMatrices = std::map<std::string, QuantisedMatrix, std::less<>>;

// Removes the tensors of quantised matrices from `file`; the remaining ones are plain. Throws Error
// naming `thing` and the tensor if one is missing, or does not fit the others in shape or dtype.
QuantisedMatrices TakeQuantised(const QuantisationSettings& settings, const std::string& thing,
                                SafetensorsTensors* file);

}  // namespace midscope

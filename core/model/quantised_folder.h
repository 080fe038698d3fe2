// SPDX-License-Identifier: MIT
// Finds the tensors that form each quantised matrix of a Hugging Face folder, and their layout.
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

// Keyed by the matrix' name in an unquantised folder: "model.layers.0.mlp.up_proj.weight".
using QuantisedMatrices = std::map<std::string, QuantisedMatrix, std::less<>>;

// Returns the quantised matrices and removes their tensors from `file`. Throws Error naming `thing`
// and the tensor if one is missing, or does not match the others in shape or dtype.
QuantisedMatrices TakeQuantised(const QuantisationSettings& settings, const std::string& thing,
                                SafetensorsTensors* file);

}  // namespace midscope

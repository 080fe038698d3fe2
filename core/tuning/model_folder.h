// SPDX-License-Identifier: MIT
// Writes tuned weights under the names and in the shapes of the Hugging Face folder that they were
// read from. Internal to core.
#pragma once

#include <filesystem>

#include "core/model/model_source.h"
#include "core/tuning/trainable_weights.h"

namespace midscope {

// Throws Error (usage) unless the model is a folder whose tensors consist of these weights, which
// have their values at that time: its file is then known to be read back as they are. Such weights
// are in a GGUF file, quantised, or transposed.
void CheckModelFolder(const ModelSource& source, const NamedTensors& weights);

// Writes model.safetensors in the weights' dtype, and copies the folder's other files except its
// weights and config.json. Tensors that are not weights of the decoder are copied unchanged, except
// an output matrix that transformers does not use. The folder is made if it does not exist. Throws
// Error (failure) if a file cannot be written.
void WriteModelFolder(const ModelSource& source, const NamedTensors& weights,
                      const std::filesystem::path& folder);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Opens a Hugging Face folder (config.json, safetensors or pytorch_model.bin, tokenizer) as a model
// source.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// Returns the checked description in config.json, without parameters and quantisation, which are
// read from the weights. Throws Error for an unsupported model_type, or settings that the decoder
// does not implement.
ModelConfig ReadFolderConfig(const std::filesystem::path& folder);

// Throws Error in the same cases, and for weights that are quantised in an unknown way, missing, of
// another shape than described, or not part of the description.
std::unique_ptr<ModelSource> OpenFolderModel(const std::filesystem::path& folder);

}  // namespace midscope

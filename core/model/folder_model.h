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

// Returns the checked model description from config.json. The number of parameters and the kind of
// quantisation are missing, because they are read from the weights. Throws Error for an unsupported
// model_type, or settings that the decoder does not implement.
ModelConfig ReadFolderConfig(const std::filesystem::path& folder);

// Opens the folder. Throws Error in the same cases as ReadFolderConfig, and for weights that are
// quantised in an unknown way, missing, of an unexpected shape, or not part of the model.
std::unique_ptr<ModelSource> OpenFolderModel(const std::filesystem::path& folder);

}  // namespace midscope

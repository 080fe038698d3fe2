// SPDX-License-Identifier: MIT
// A Hugging Face folder (config.json, safetensors or pytorch_model.bin, tokenizer) as a model
// source.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// The description in config.json, checked; without parameters and quantisation, which come from the
// weights. Throws Error: an unsupported model_type, settings that the decoder does not implement.
ModelConfig ReadFolderConfig(const std::filesystem::path& folder);

// Throws Error, also for weights that are quantised in an unknown way, missing, of another shape
// than in the description, or not part of it.
std::unique_ptr<ModelSource> OpenFolderModel(const std::filesystem::path& folder);

}  // namespace midscope

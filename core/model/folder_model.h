// SPDX-License-Identifier: MIT
// A Hugging Face folder (config.json, safetensors, tokenizer) as a model source.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// The description that config.json gives, checked; without parameters and quantisation, which the
// weights say. Throws Error: a model_type that is not supported, settings that ask for something
// that the decoder does not do.
ModelConfig ReadFolderConfig(const std::filesystem::path& folder);

// Throws Error, also for weights that are pickled, quantised in a way that is not known, missing,
// of another shape than the description asks for, or without a place in it.
std::unique_ptr<ModelSource> OpenFolderModel(const std::filesystem::path& folder);

}  // namespace midscope

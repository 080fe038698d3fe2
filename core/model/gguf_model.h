// SPDX-License-Identifier: MIT
// A GGUF file as a model source.
#pragma once

#include <filesystem>
#include <memory>

#include "core/formats/gguf_file.h"
#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// The description that the file's metadata gives, checked. Throws Error: an architecture that is
// not supported, or metadata that asks for something that the decoder does not do (such files must
// not run with other numbers in silence).
ModelConfig ReadGgufConfig(const GgufFile& file);

// Throws Error, also for tensors that are missing, of another shape than the description asks for,
// or without a place in it.
std::unique_ptr<ModelSource> OpenGgufModel(const std::filesystem::path& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Opens a GGUF file as a model source.
#pragma once

#include <filesystem>
#include <memory>

#include "core/formats/gguf_file.h"
#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// Returns the checked description in the file's metadata. Throws Error for an unsupported
// architecture, or metadata that the decoder does not implement (such files must not silently give
// wrong numbers).
ModelConfig ReadGgufConfig(const GgufFile& file);

// Throws Error in the same cases, and for tensors that are missing, of another shape than
// described, or not part of the description.
std::unique_ptr<ModelSource> OpenGgufModel(const std::filesystem::path& path);

}  // namespace midscope

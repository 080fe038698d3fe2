// SPDX-License-Identifier: MIT
// Opens a GGUF file as a model source.
#pragma once

#include <filesystem>
#include <memory>

#include "core/formats/gguf_file.h"
#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// Returns the checked model description from the file's metadata. Throws Error for an unsupported
// architecture, or for metadata that the decoder does not implement, because such files must not
// silently give wrong results.
ModelConfig ReadGgufConfig(const GgufFile& file);

// Opens the file. Throws Error in the same cases as ReadGgufConfig, and for tensors that are
// missing, of an unexpected shape, or not part of the model.
std::unique_ptr<ModelSource> OpenGgufModel(const std::filesystem::path& path);

}  // namespace midscope

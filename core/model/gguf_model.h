// SPDX-License-Identifier: MIT
// A GGUF file as a model source.
#pragma once

#include <filesystem>
#include <memory>

#include "core/formats/gguf_file.h"
#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// The description in the file's metadata, checked. Throws Error: an unsupported architecture, or
// metadata that the decoder does not implement (such files must not silently run with other
// numbers).
ModelConfig ReadGgufConfig(const GgufFile& file);

// Throws Error, also for tensors that are missing, of another shape than in the description, or not
// part of it.
std::unique_ptr<ModelSource> OpenGgufModel(const std::filesystem::path& path);

}  // namespace midscope

// SPDX-License-Identifier: MIT
// LoRA adapters in the format of PEFT: a folder with adapter_config.json and
// adapter_model.safetensors (PEFT 0.21).
#pragma once

#include <filesystem>

#include "core/model/model_source.h"
#include "core/tuning/lora.h"

namespace midscope {

// Reads an adapter of this model for further tuning (core/model/adapter_file.h opens adapters for
// runs). Throws Error in the same cases as ReadAdapterFile, and for a GGUF file.
LoraAdapter ReadAdapter(const std::filesystem::path& folder, const ModelSource& source);

// Writes the two files into the folder, which is made if it does not exist. Tensors are float32.
// Throws Error in the same cases for modules, and if a file cannot be written.
void WriteAdapter(const LoraAdapter& adapter, const ModelSource& source,
                  const std::filesystem::path& folder);

}  // namespace midscope

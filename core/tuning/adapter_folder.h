// SPDX-License-Identifier: MIT
// LoRA adapters in the format of PEFT: a folder with adapter_config.json and
// adapter_model.safetensors (PEFT 0.21).
#pragma once

#include <filesystem>

#include "core/model/model_source.h"
#include "core/tuning/lora.h"

namespace midscope {

// Reads an adapter of this model. A GGUF file is matched by the module names of the Hugging Face
// model that it was made from. Throws Error for a folder without these files, for settings that
// change the result and are not supported (DoRA, ranks that differ, biases, modules_to_save), for
// modules that the model does not have or that hold several projections (such as phi3's qkv_proj),
// and for wrong shapes and numbers that are not finite.
LoraAdapter ReadAdapter(const std::filesystem::path& folder, const ModelSource& source);

// Writes the two files into the folder, which is made if it does not exist. Tensors are float32.
// Throws Error in the same cases for modules, and if a file cannot be written.
void WriteAdapter(const LoraAdapter& adapter, const ModelSource& source,
                  const std::filesystem::path& folder);

}  // namespace midscope

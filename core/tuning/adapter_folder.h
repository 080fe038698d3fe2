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

// Throws Error if the family has no name in PEFT's format for a matrix of the adapter, so that
// WriteAdapter could not write it (joined experts).
void CheckAdapterModules(const LoraAdapter& adapter, const ModelSource& source);

// Writes the two files into the folder, which is made if it does not exist. Tensors are float32. A
// module of several matrices (phi3's q, k and v) has one pair: A holds theirs one below the other,
// and B has each matrix' columns in its rows and zeros elsewhere; all modules then have that rank,
// filled with zeros. Throws Error as CheckAdapterModules does, and if a file cannot be written.
void WriteAdapter(const LoraAdapter& adapter, const ModelSource& source,
                  const std::filesystem::path& folder);

}  // namespace midscope

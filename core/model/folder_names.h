// SPDX-License-Identifier: MIT
// Names of tensors in folders: leaves out the parts that are no text model, and maps names of all
// versions of transformers to the family's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/families/family.h"
#include "core/model/tensor_table.h"

namespace midscope {

// The tensor's name in the text part's causal model; nullopt for one of another part.
std::optional<std::string> TextTensorName(std::string_view name, const TextWrapper& wrapper);

// Folders saved from a base model (AutoModel) have no "model." before their names: adds it. No
// effect where the embedding has its full name.
void CompleteBaseNames(const std::vector<TensorPlace>& places, FileTensors* tensors);

// The rule of transformers 5 where config->tied_embeddings is set and the file has an output matrix
// anyway: a matrix of other values is used (tied_embeddings becomes false, with a note), an equal
// one is shared. Where only the output matrix exists, it is also the embedding. Throws Error naming
// `thing` where embeddings are not tied and the file has no output matrix.
void ResolveOutput(const std::vector<TensorPlace>& places, const std::string& thing,
                   FileTensors* tensors, ModelConfig* config);

}  // namespace midscope

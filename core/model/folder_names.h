// SPDX-License-Identifier: MIT
// The names that tensors have in folders: with the parts that are no text model left out, and under
// the names that the family's places have, whatever class of transformers wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/families/family.h"
#include "core/model/tensor_table.h"

namespace midscope {

// The name under which the text part's causal model has the tensor; nothing for one of another
// part.
std::optional<std::string> TextTensorName(std::string_view name, const TextWrapper& wrapper);

// Folders saved from a base model (AutoModel) have no "model." before their names: puts it there.
// Nothing changes where the embedding has its full name.
void CompleteBaseNames(const std::vector<TensorPlace>& places, FileTensors* tensors);

// What transformers 5 does where config->tied_embeddings is set and the file has an output matrix
// all the same: a matrix of other values is used (tied_embeddings becomes false, and a note says
// so), equal ones are one. Where only the output matrix is there, it is the embedding, too. Throws
// Error naming `thing` where embeddings are not tied and the file has no output matrix.
void ResolveOutput(const std::vector<TensorPlace>& places, const std::string& thing,
                   FileTensors* tensors, ModelConfig* config);

}  // namespace midscope

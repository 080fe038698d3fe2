// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/safetensors_header.h"
#include "core/model/families/family.h"
#include "core/model/tensor_table.h"

namespace midscope {

// Names of tensors in folders: leaves out the parts that are no text model, and maps names of all
// versions of transformers to the family's.

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

// Norms with weights for each head that a Hugging Face folder keeps in a tensor per head:
// PREFIX.norms.0.weight, PREFIX.norms.1.weight, ..., each [head_dim] (StableLM).

// Replaces them by PREFIX.weight [heads, head_dim]; its bytes are copies in `data`. Throws Error
// naming `thing`: heads that are left out, or of other shapes or dtypes than the first.
void JoinNormsOfHeads(const std::string& thing, FileTensors* tensors,
                      std::deque<std::vector<std::byte>>* data);

// Matrices of a Hugging Face folder in MXFP4, which are stored there as two tensors: NAME_blocks
// (U8, [..., columns / 32, 16], elements 2i and 2i + 1 of a block in the low and high nibble of
// byte i) and NAME_scales (U8, [..., columns / 32], the exponents).

// Takes such pairs out of `file` and puts NAME.mxfp4 [..., columns], in the layout of
// BlockType::kMXFP4, into `tensors`; its bytes are copies in `data`. Calls `copied` with each
// tensor of the file that is not read any more. Throws Error naming `thing`: half of a pair,
// another dtype or shapes that do not fit.
void JoinMxfp4(const std::string& thing,
               const std::function<void(const SafetensorsTensor&)>& copied,
               SafetensorsTensors* file, FileTensors* tensors,
               std::deque<std::vector<std::byte>>* data);

}  // namespace midscope

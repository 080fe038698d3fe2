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

#include "core/formats/safetensors.h"
#include "core/model/families/family.h"
#include "core/model/tensor_table.h"

namespace midscope {

// Functions that map tensor names in folders to the family's names, for all versions of
// transformers, and exclude tensors outside the text model.

// Returns a tensor's name in the text part's causal model; nullopt for tensors of other parts.
std::optional<std::string> TextTensorName(std::string_view name, const TextWrapper& wrapper);

// Adds the prefix "model." to the names of `tensors`, which folders saved from a base model
// (AutoModel) lack. No effect if the embedding has its full name.
void CompleteBaseNames(const std::vector<TensorPlace>& places, FileTensors* tensors);

// Applies the rule of transformers 5 if config->tied_embeddings is set and the file has an output
// matrix anyway: a matrix different from the embeddings is used (tied_embeddings becomes false,
// with a note), an equal one is shared. If only the output matrix exists, it is also the embedding.
// Throws Error naming `thing` if embeddings are not tied and the file has no output matrix.
void ResolveOutput(const std::vector<TensorPlace>& places, const std::string& thing,
                   FileTensors* tensors, ModelConfig* config);

// Norms of heads whose weights are stored in a separate tensor per head (StableLM):
// PREFIX.norms.0.weight, PREFIX.norms.1.weight, ..., each [head_dim].

// Replaces norms of separate heads by PREFIX.weight [heads, head_dim], stored in `data`. Throws
// Error naming `thing` if heads are missing or differ from the first in shape or dtype.
void JoinNormsOfHeads(const std::string& thing, FileTensors* tensors,
                      std::deque<std::vector<std::byte>>* data);

// MXFP4 matrices of a Hugging Face folder, which stores each as two tensors: NAME_blocks
// (U8, [..., columns / 32, 16], elements 2i and 2i + 1 of a block in the low and high nibble of
// byte i) and NAME_scales (U8, [..., columns / 32], the exponents).

// Removes the tensor pairs of MXFP4 matrices from `file` and adds NAME.mxfp4 [..., columns], in the
// layout of BlockType::kMXFP4, to `tensors`; the bytes are stored in `data`. Calls `copied` with
// each tensor of the file that is no longer read. Throws Error naming `thing` if one tensor of a
// pair is missing, or has an unexpected dtype or shape.
void JoinMxfp4(const std::string& thing,
               const std::function<void(const SafetensorsTensor&)>& copied,
               SafetensorsTensors* file, FileTensors* tensors,
               std::deque<std::vector<std::byte>>* data);

}  // namespace midscope

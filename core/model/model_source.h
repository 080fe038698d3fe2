// SPDX-License-Identifier: MIT
// A model on disk, in any format: a description, tensors under the decoder's own names, a
// tokenizer. The decoder loads from this and does not depend on GGUF or safetensors.
//
// Names (N: layer), and NAME.bias for each where the model has one:
// clang-format off
//   token_embedding                              [vocabulary, hidden or embedding_width]
//   embedding_in                                 [hidden, embedding_width]  where there is one
//   embedding_out                                [embedding_width, hidden]  likewise
//   position_embedding                           [positions, hidden]   where they are learned
//   embedding_norm                               [hidden]              of token embeddings
//   output                                       as token_embedding; absent where tied
//   final_norm                                   [hidden]
//   N.attention_norm, N.mlp_norm                 [hidden]              input or stream norms
//   N.attention_output_norm, N.mlp_output_norm   [hidden]
//   N.query                                      [heads * head_dim, hidden]
//   N.key, N.value                               [key_value_heads * head_dim, hidden]
//   N.attention_out                              [hidden, heads * head_dim]
//   N.query_norm                                 [head_dim] or [heads * head_dim]
//   N.key_norm                                   [head_dim] or [key_value_heads * head_dim]
//   N.sinks                                      [heads]
// With latent keys (ModelConfig::latent), instead of N.query, N.key and N.value:
//   N.query                                      [heads * (plain + rotated), hidden or query_rank]
//   N.query_in, N.query_in_norm                  [query_rank, hidden], [query_rank]
//   N.latent                                     [rank + rotated, hidden]
//   N.latent_norm                                [rank]
//   N.latent_out                                 [heads * (plain + value), rank]
//   or N.latent_key_out, N.latent_value_out      [heads * rank, plain], [heads * value, rank]
//   N.attention_out                              [hidden, heads * value]
//   N.gate, N.up                                 [feed_forward, hidden]
//   N.down                                       [hidden, feed_forward]
// In layers with experts, instead of the last two lines:
//   N.router                                     [experts, hidden]
//   N.choice_bias                                [experts]
//   N.experts.E.gate, N.experts.E.up, .down      as N.gate, N.up, N.down, of the expert's width
//   N.shared.gate, N.shared.up, N.shared.down    likewise
//   N.shared_gate                                [1, hidden]
// clang-format on
// Rows of query and key are in half-split rotary order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "core/tokenizer/tokenizer.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

// Rows of one of the decoder's matrices within the file: fused projections (gpt_neox, phi3, mpt)
// and interleaved rotary order (GGUF's llama) are rows of the same tensor in another order. Row r
// of the matrix is row rows[r] of the tensor; empty rows: the tensor as it is.
struct TensorRef {
  kernels::BlockFormat format;
  const std::byte* data =
      nullptr;       // row 0 of the tensor; memory-mapped, lives as long as the source
  int64_t rows = 0;  // of the decoder's matrix; 1 for vectors
  int64_t columns = 0;
  int64_t row_bytes = 0;
  std::vector<int64_t> row_order;  // [rows], or empty: 0, 1, 2, ...
  std::string file_name;           // the tensor's in the file, for messages

  const std::byte* Row(int64_t row) const {
    return data + (row_order.empty() ? row : row_order[static_cast<size_t>(row)]) * row_bytes;
  }
};

class ModelSource {
 public:
  virtual ~ModelSource() = default;
  virtual const ModelConfig& config() const = 0;
  // Null where the model has no such tensor. Throws Error where it has another shape than the
  // description requires.
  virtual const TensorRef* Find(const std::string& name) const = 0;
  virtual std::unique_ptr<Tokenizer> MakeTokenizer() const = 0;
  virtual std::string path() const = 0;
  virtual std::string Hash()
      const = 0;  // XXH3-128 of the file, or of the folder's weight files in name order
  virtual void DontNeed(const TensorRef& tensor) const = 0;
  // Throws Error (failure) where a file turned out to be truncated in a read
  // (MemoryMap::CheckWhole).
  virtual void CheckWhole() const = 0;
};

// The file or folder of a user's name for a model: a .gguf file (of a split model the first), a
// Hugging Face folder, a folder with one GGUF model, `org/name` or `org/name@REVISION` in the
// Hugging Face cache (for a snapshot without weights of a folder its only GGUF model), or
// "embedded". Throws Error where there is none, or several.
std::filesystem::path ResolveModel(const std::string& model);

// Opens the result of ResolveModel. Throws Error.
std::unique_ptr<ModelSource> OpenModel(const std::string& model);

struct RunnableModel {
  std::unique_ptr<ModelSource> source;
  std::unique_ptr<Tokenizer> tokenizer;
  ModelConfig config;  // the source's, with the tokenizer's notes
};

// Opens a model for a run: every run and `info` decide by this function alone whether a model is
// supported. Throws Error where it is not.
RunnableModel OpenRunnableModel(const std::string& model);

// Locations of models: the name `embedded` and the cache folder.

// $MIDSCOPE_MODELS, else $XDG_CACHE_HOME/midscope/models, else ~/.cache/midscope/models.
std::filesystem::path ModelFolder();

// The path of a model from the user's name: "embedded", or a path. Throws Error where the embedded
// model has not been fetched yet.
std::filesystem::path ModelPath(const std::string& model);

}  // namespace midscope

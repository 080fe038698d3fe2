// SPDX-License-Identifier: MIT
// A model on disk, in any format: a description, tensors under the decoder's own names, a
// tokenizer. The decoder loads models through it and does not depend on GGUF or safetensors.
//
// Names of tensors (N: layer); each may also have a NAME.bias:
// clang-format off
//   token_embedding                              [vocabulary, hidden or embedding_width]
//   embedding_in                                 [hidden, embedding_width]  where there is one
//   embedding_out                                [embedding_width, hidden]  likewise
//   position_embedding                           [positions, hidden]   where they are learned
//   embedding_norm                               [hidden]              of token embeddings
//   output                                       as token_embedding; absent where tied
//   layer_embedding                              [vocabulary, layers * layer_input_width]  likewise
//   layer_projection                             [layers * layer_input_width, hidden]      likewise
//   layer_projection_norm                        [layer_input_width]                       likewise
//   final_norm                                   [hidden]
//   N.attention_norm, N.mlp_norm                 [hidden]              input or stream norms
//   N.attention_output_norm, N.mlp_output_norm   [hidden]
//   N.query                                      [heads * head_dim, hidden]
//   N.key, N.value                               [key_value_heads * head_dim, hidden]
//   N.attention_out                              [hidden, heads * head_dim]
//   N.query_norm                                 [head_dim] or [heads * head_dim]
//   N.key_norm                                   [head_dim] or [key_value_heads * head_dim]
//   N.sinks                                      [heads]
//   N.layer_input_gate, N.layer_input_out        [layer_input_width, hidden], the reverse
//   N.layer_input_norm                           [hidden]
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
// With ExpertSettings::beside_mlp, all of these, and:
//   N.router_norm                                [hidden]   times sqrt(hidden)
//   N.mlp_inner_norm, N.expert_norm, N.expert_output_norm   [hidden]
//   N.expert_scale                               [experts]
// clang-format on
// The rows of query and key are in half-split rotary order.
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

// One of the decoder's matrices, whose rows are stored in a file's tensor. Row r of the matrix is
// row row_order[r] of the tensor, or row r if row_order is empty. Fused projections (gpt_neox,
// phi3, mpt) and interleaved rotary order (GGUF's llama) need row_order.
struct TensorRef {
  kernels::BlockFormat format;
  const std::byte* data =
      nullptr;       // row 0 of the tensor; memory-mapped, valid as long as the source
  int64_t rows = 0;  // rows of the decoder's matrix; 1 for vectors
  int64_t columns = 0;
  int64_t row_bytes = 0;
  std::vector<int64_t> row_order;  // [rows], or empty: 0, 1, 2, ...
  std::string file_name;           // the tensor's name in the file, for messages

  // Returns the tensor's name in the file if it is set, else `name`.
  const std::string& NameOr(const std::string& name) const {
    return file_name.empty() ? name : file_name;
  }
  const std::byte* Row(int64_t row) const {
    return data + (row_order.empty() ? row : row_order[static_cast<size_t>(row)]) * row_bytes;
  }
};

class ModelSource {
 public:
  virtual ~ModelSource() = default;
  virtual const ModelConfig& config() const = 0;
  // Returns the tensor of this name; null if the model has no such tensor. Throws Error if its
  // shape is not the one that the model's description requires.
  virtual const TensorRef* Find(const std::string& name) const = 0;
  virtual std::unique_ptr<Tokenizer> MakeTokenizer() const = 0;
  virtual std::string path() const = 0;
  virtual std::string Hash()
      const = 0;  // XXH3-128 of the file, or of the folder's weight files in name order
  virtual void DontNeed(const TensorRef& tensor) const = 0;
  // Throws Error (failure) if an earlier read met a truncated file (MemoryMap::CheckWhole).
  virtual void CheckWhole() const = 0;
};

// Returns the file or folder for a user's name of a model (model_text.h; adapter and random weights
// in the name are ignored): a .gguf file (the first of a split model), a Hugging Face folder, a
// folder with one GGUF model, `org/name` or `org/name@REVISION` in the Hugging Face cache (if the
// snapshot is not a Hugging Face folder with weights, its only GGUF model), or "embedded". Throws
// Error if the name fits no model, or several.
std::filesystem::path ResolveModel(const std::string& model);

// Opens the model that ResolveModel finds, with the random weights and the adapter in the name.
// path() of the result also names both. Throws Error.
std::unique_ptr<ModelSource> OpenModel(const std::string& model);

struct RunnableModel {
  std::unique_ptr<ModelSource> source;
  std::unique_ptr<Tokenizer> tokenizer;
  ModelConfig config;  // the source's description, with the tokenizer's notes added
};

// Opens a model for a run, with its tokenizer. All runs and `info` use this function, so that they
// agree on which models are supported. Throws Error if the model is not supported.
RunnableModel OpenRunnableModel(const std::string& model);

// Functions that find models in the model folder and by the name `embedded`.

// Returns $MIDSCOPE_MODELS, else $XDG_CACHE_HOME/midscope/models, else ~/.cache/midscope/models.
std::filesystem::path ModelFolder();

// Returns the path of the model named `embedded`, whether the file exists or not.
std::filesystem::path EmbeddedModelPath();

// Returns the path for a user's model name: `embedded`, or a path. Throws Error if `embedded` has
// not been fetched yet.
std::filesystem::path ModelPath(const std::string& model);

}  // namespace midscope

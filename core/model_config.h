// SPDX-License-Identifier: MIT
// What a model file says about the model's shape, checked: numbers in here can be multiplied and
// divided without a second look.
#pragma once

#include <cstdint>
#include <string>

#include "core/gguf_file.h"

namespace midscope {

struct ModelConfig {
  std::string architecture;  // "llama"
  std::string name;          // as the file calls the model; may be empty
  int64_t layers = 0;        // 1 to 1,024
  int64_t heads = 0;         // query heads; a multiple of key_value_heads
  int64_t key_value_heads = 0;
  int64_t head_dim = 0;  // even
  int64_t hidden = 0;    // width of the residual stream
  int64_t feed_forward = 0;
  int64_t vocabulary = 0;
  int64_t trained_context = 0;  // tokens
  double rope_base = 10000.0;
  int64_t rope_dimensions = 0;  // rotated dimensions of a head: equal to head_dim
  double rms_norm_epsilon = 1e-5;
  bool tied_embeddings = false;  // no output matrix of its own: logits come from the embeddings
  std::string quantisation;      // the tensor type that holds most parameters, "Q4_1"
  int64_t parameters = 0;

  int64_t heads_per_key_value_head() const { return heads / key_value_heads; }
};

// Throws Error for an architecture that is not supported, and for everything in the file that would
// change the numbers in a way the decoder does not follow (rope scaling, experts, sliding windows,
// scales): no silent approximation.
ModelConfig ReadModelConfig(const GgufFile& file);

// The tensors of the llama decoder, all there, of the shapes that the config gives (outermost
// first):
//   token_embd.weight, output.weight (absent if tied) [vocabulary, hidden]; output_norm.weight
//   [hidden]; for layer N: blk.N.attn_norm.weight, blk.N.ffn_norm.weight [hidden];
//   blk.N.attn_q.weight [heads * head_dim, hidden]; blk.N.attn_k.weight, blk.N.attn_v.weight
//   [key_value_heads * head_dim, hidden]; blk.N.attn_output.weight [hidden, heads * head_dim];
//   blk.N.ffn_gate.weight, blk.N.ffn_up.weight [feed_forward, hidden]; blk.N.ffn_down.weight
//   [hidden, feed_forward].
// Throws Error for one that is missing or of another shape, and for a tensor that has no place in
// this decoder.
void CheckTensorShapes(const GgufFile& file, const ModelConfig& config);

}  // namespace midscope

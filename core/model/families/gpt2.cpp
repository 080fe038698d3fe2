// SPDX-License-Identifier: MIT
// GPT-2: learned positions, LayerNorm and biases throughout, matrices stored as [inputs, outputs].
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = CountOfTwo(json, "n_layer", "num_hidden_layers", kMaxLayers, 12);
  config->hidden = CountOfTwo(json, "n_embd", "hidden_size", kMaxWidth, 768);
  config->feed_forward = json.Count("n_inner", kMaxWidth, 4 * config->hidden);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, 50257);
  config->heads = CountOfTwo(json, "n_head", "num_attention_heads", kMaxWidth, 12);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context =
      CountOfTwo(json, "n_positions", "max_position_embeddings", kMaxTokens, 1024);
  config->norm_epsilon = json.Positive("layer_norm_epsilon", 1e-5);
  config->activation = ReadActivation(json, "activation_function", "gelu_new");
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  config->positions = PositionKind::kLearned;
  config->rope_dimensions = config->head_dim;  // not used; a number that is always right
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  if (!json.Flag("scale_attn_weights", true)) config->logit_scale = 1.0;
  // reorder_and_upcast_attn changes roundings alone, and only in 16 bits.
  RefuseFlag(json, "scale_attn_by_inverse_layer_idx");
  RefuseFlag(json, "add_cross_attention");
}

TensorPlace Conv1d(std::string_view name, std::string_view file_name,
                   RowPart part = RowPart::kAll) {
  return {name, file_name, part, Bias::kMust, TensorEnding::kWeight, /*transposed=*/true};
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  constexpr std::string_view kFused = "transformer.h.N.attn.c_attn";
  return {{"token_embedding", "transformer.wte"},
          {"position_embedding", "transformer.wpe"},
          {"output", "lm_head"},
          {"final_norm", "transformer.ln_f", RowPart::kAll, Bias::kMust},
          {"N.attention_norm", "transformer.h.N.ln_1", RowPart::kAll, Bias::kMust},
          {"N.mlp_norm", "transformer.h.N.ln_2", RowPart::kAll, Bias::kMust},
          Conv1d("N.query", kFused, RowPart::kQuery),
          Conv1d("N.key", kFused, RowPart::kKey),
          Conv1d("N.value", kFused, RowPart::kValue),
          Conv1d("N.attention_out", "transformer.h.N.attn.c_proj"),
          Conv1d("N.up", "transformer.h.N.mlp.c_fc"),
          Conv1d("N.down", "transformer.h.N.mlp.c_proj")};
}

}  // namespace

const Family& Gpt2Family() {
  static const Family family = {"gpt2", "gpt2",  ReadFolder, FolderTensors,
                                "",     nullptr, nullptr,    {".attn.bias", ".attn.masked_bias"}};
  return family;
}

}  // namespace midscope

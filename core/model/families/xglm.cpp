// SPDX-License-Identifier: MIT
// XGLM: sinusoidal positions, added to scaled embeddings; otherwise like OPT, with LayerNorm and
// biases throughout.
#include <cmath>

#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::xglm {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = json.Count("num_layers", kMaxLayers, 24);
  config->hidden = json.Count("d_model", kMaxWidth, 1024);
  config->feed_forward = json.Count("ffn_dim", kMaxWidth, 4096);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, 256008);
  config->heads = json.Count("attention_heads", kMaxWidth, 16);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context = json.Count("max_position_embeddings", kMaxTokens, 2048);
  config->activation = ReadActivation(json, "activation_function", "gelu");
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  SetUnrotated(PositionKind::kSinusoidal, config);
  config->position_offset = 2;
  config->norm = NormKind::kLayer;
  config->norm_epsilon = 1e-5;  // PyTorch's default; not stated in the file
  config->gated_mlp = false;
  if (json.Flag("scale_embedding", true))
    config->embedding_scale = std::sqrt(static_cast<double>(config->hidden));
  if (json.Flag("add_cross_attention", false))
    json.Fail(json.Name("add_cross_attention") + " is true, which is not supported");
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  const auto place = [](std::string_view name, std::string_view file_name) {
    return TensorPlace{name, file_name, RowPart::kAll, Bias::kMust};
  };
  return {{"token_embedding", "model.embed_tokens"},
          {"output", "lm_head"},
          place("final_norm", "model.layer_norm"),
          place("N.attention_norm", "model.layers.N.self_attn_layer_norm"),
          place("N.mlp_norm", "model.layers.N.final_layer_norm"),
          place("N.query", "model.layers.N.self_attn.q_proj"),
          place("N.key", "model.layers.N.self_attn.k_proj"),
          place("N.value", "model.layers.N.self_attn.v_proj"),
          place("N.attention_out", "model.layers.N.self_attn.out_proj"),
          place("N.up", "model.layers.N.fc1"),
          place("N.down", "model.layers.N.fc2")};
}

}  // namespace

const Family& XglmFamily() {
  // Files of transformers before 4.31 contain the sinusoidal table, which is computed here instead.
  static const Family family = {"xglm", "xglm",  ReadFolder, FolderTensors,
                                "",     nullptr, nullptr,    {"embed_positions.weights"}};
  return family;
}

}  // namespace midscope::xglm

// SPDX-License-Identifier: MIT
// OPT: learned positions whose table begins with two unused rows, LayerNorm and biases throughout,
// ReLU. OPT 350M norms the stream after attention and MLP, and projects embeddings.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::opt {
namespace {

void ReadForm(const ConfigJson& json, ModelConfig* config) {
  config->input_norms = json.Flag("do_layer_norm_before", true);
  config->stream_norms = !config->input_norms;
  config->final_norm = config->input_norms && !json.Flag("_remove_final_layer_norm", false);
  const int64_t embedded = json.Count("word_embed_proj_dim", kMaxWidth, config->hidden);
  // Largest ratio of hidden_size to word_embed_proj_dim. Opening the model multiplies the
  // embeddings by the projection, and memory must not become many times the file's size.
  constexpr int64_t kMostTimes = 64;
  if (embedded < config->hidden / kMostTimes) {
    json.Fail(json.Name("word_embed_proj_dim") +
              " is less than a 64th of hidden_size, which is not "
              "supported");
  }
  if (embedded != config->hidden) config->embedding_width = embedded;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = json.Count("num_hidden_layers", kMaxLayers, 12);
  config->hidden = json.Count("hidden_size", kMaxWidth, 768);
  config->feed_forward = json.Count("ffn_dim", kMaxWidth, 3072);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, 50272);
  config->heads = json.Count("num_attention_heads", kMaxWidth, 12);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context = json.Count("max_position_embeddings", kMaxTokens, 2048);
  config->activation = ReadActivation(json, "activation_function", "relu");
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  SetUnrotated(PositionKind::kLearned, config);
  config->position_offset = 2;
  config->norm = NormKind::kLayer;
  config->norm_epsilon = 1e-5;  // PyTorch's default, whatever the file states
  config->norm_weights = json.Flag("layer_norm_elementwise_affine", true);
  config->gated_mlp = false;
  ReadForm(json, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "enable_bias", true);
  const auto place = [](std::string_view name, std::string_view file_name, Bias with) {
    return TensorPlace{name, file_name, RowPart::kAll, with};
  };
  return {{"token_embedding", "model.decoder.embed_tokens"},
          {"position_embedding", "model.decoder.embed_positions"},
          {"embedding_in", "model.decoder.project_in"},
          {"embedding_out", "model.decoder.project_out"},
          {"output", "lm_head"},
          place("final_norm", "model.decoder.final_layer_norm", Bias::kMust),
          place("N.attention_norm", "model.decoder.layers.N.self_attn_layer_norm", Bias::kMust),
          place("N.mlp_norm", "model.decoder.layers.N.final_layer_norm", Bias::kMust),
          place("N.query", "model.decoder.layers.N.self_attn.q_proj", bias),
          place("N.key", "model.decoder.layers.N.self_attn.k_proj", bias),
          place("N.value", "model.decoder.layers.N.self_attn.v_proj", bias),
          place("N.attention_out", "model.decoder.layers.N.self_attn.out_proj", bias),
          place("N.up", "model.decoder.layers.N.fc1", bias),
          place("N.down", "model.decoder.layers.N.fc2", bias)};
}

}  // namespace

const Family& OptFamily() {
  static const Family family = {"opt", "opt", ReadFolder, FolderTensors, "", nullptr, nullptr};
  return family;
}

}  // namespace midscope::opt

// SPDX-License-Identifier: MIT
// BLOOM: ALiBi, a norm of the token embeddings, LayerNorm and biases throughout.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::bloom {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = CountOfTwo(json, "n_layer", "num_hidden_layers", kMaxLayers, 2);
  config->hidden = CountOfTwo(json, "hidden_size", "n_embed", kMaxWidth / 4, 64);
  config->feed_forward = 4 * config->hidden;
  config->vocabulary = json.Count("vocab_size", kMaxTokens, 250880);
  config->heads = CountOfTwo(json, "n_head", "num_attention_heads", kMaxWidth, 8);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  // transformers does not read seq_length, because ALiBi has no limit. All published models were
  // trained on 2048 tokens, which is the default here.
  config->trained_context = json.Count("seq_length", kMaxTokens, 2048);
  config->norm_epsilon = json.Positive("layer_norm_epsilon", 1e-5);
  config->activation = Activation::kGeluTanh;
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  SetUnrotated(PositionKind::kAlibi, config);
  config->norm = NormKind::kLayer;
  config->embedding_norm = true;
  config->gated_mlp = false;
  RefuseFlag(json, "apply_residual_connection_post_layernorm");
  // With pretraining_tp > 1 and slow_but_exact, transformers omits biases of two projections.
  if (json.Count("pretraining_tp", kMaxWidth, 1) > 1) RefuseFlag(json, "slow_but_exact");
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufSizes(metadata, "attention.layer_norm_epsilon", config);
  config->activation = Activation::kGeluTanh;
  SetUnrotated(PositionKind::kAlibi, config);
  config->norm = NormKind::kLayer;
  config->embedding_norm = true;
  config->gated_mlp = false;
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufGptTensors(Bias::kMust);
  places.push_back({"embedding_norm", "token_embd_norm", RowPart::kAll, Bias::kMust});
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  constexpr std::string_view kFused = "transformer.h.N.self_attention.query_key_value";
  const auto place = [](std::string_view name, std::string_view file_name,
                        RowPart part = RowPart::kAll) {
    return TensorPlace{name, file_name, part, Bias::kMust};
  };
  return {{"token_embedding", "transformer.word_embeddings"},
          {"output", "lm_head"},
          place("embedding_norm", "transformer.word_embeddings_layernorm"),
          place("final_norm", "transformer.ln_f"),
          place("N.attention_norm", "transformer.h.N.input_layernorm"),
          place("N.mlp_norm", "transformer.h.N.post_attention_layernorm"),
          place("N.query", kFused, RowPart::kHeadQuery),
          place("N.key", kFused, RowPart::kHeadKey),
          place("N.value", kFused, RowPart::kHeadValue),
          place("N.attention_out", "transformer.h.N.self_attention.dense"),
          place("N.up", "transformer.h.N.mlp.dense_h_to_4h"),
          place("N.down", "transformer.h.N.mlp.dense_4h_to_h")};
}

}  // namespace

const Family& BloomFamily() {
  static const Family family = {"bloom", "bloom",  ReadFolder, FolderTensors,
                                "bloom", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::bloom

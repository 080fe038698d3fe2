// SPDX-License-Identifier: MIT
// MPT: ALiBi instead of rotary positions, LayerNorm without bias, no biases at all.
//
// ALiBi's slopes follow the file's attn_config.alibi_bias_max, as the original MPT code
// (llm-foundry) does. transformers ignores the key and always uses 8, so results differ if a file
// has another value.
#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::mpt {
namespace {

void SetMpt(ModelConfig* config) {
  SetUnrotated(PositionKind::kAlibi, config);
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  config->activation = Activation::kGelu;
}

void CheckAttention(const ConfigJson& attention) {
  const std::string type = attention.Text("attn_type", "multihead_attention");
  if (type != "multihead_attention") {
    attention.Fail(
        attention.Name("attn_type") + " is " + Quote(type) + ", which is not supported yet",
        "Supported: multihead_attention");
  }
  if (!attention.Flag("alibi", true)) {
    attention.Fail(
        "its positions are learned (attn_config.alibi is false), which is not supported");
  }
  for (const char* key : {"qk_ln", "prefix_lm", "attn_uses_sequence_id", "rope"}) {
    if (attention.Flag(key, false)) {
      attention.Fail(attention.Name(key) + " is true, which is not supported yet");
    }
  }
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = json.Count("n_layers", kMaxLayers);
  config->hidden = json.Count("d_model", kMaxWidth);
  config->feed_forward = config->hidden * json.Count("expansion_ratio", kMaxLayers, 4);
  config->vocabulary = json.Count("vocab_size", kMaxTokens);
  config->heads = json.Count("n_heads", kMaxWidth);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context = json.Count("max_seq_len", kMaxTokens);
  config->norm_epsilon = json.Positive("layer_norm_epsilon", 1e-5);
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  SetMpt(config);
  if (!json.Flag("no_bias", true)) json.Fail("no_bias is false, which is not supported yet");
  if (json.Has("logit_scale")) json.Fail("logit_scale is set, which is not supported yet");
  const auto attention = json.Object("attn_config");
  if (!attention) return;
  CheckAttention(*attention);
  if (attention->Has("softmax_scale")) config->logit_scale = attention->Positive("softmax_scale");
  if (attention->Has("clip_qkv")) config->clip_qkv = attention->Positive("clip_qkv");
  config->alibi_max_bias = attention->Positive("alibi_bias_max", 8.0);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  constexpr std::string_view kFused = "transformer.blocks.N.attn.Wqkv";
  return {{"token_embedding", "transformer.wte"},
          {"output", "lm_head"},
          {"final_norm", "transformer.norm_f"},
          {"N.attention_norm", "transformer.blocks.N.norm_1"},
          {"N.mlp_norm", "transformer.blocks.N.norm_2"},
          {"N.query", kFused, RowPart::kQuery},
          {"N.key", kFused, RowPart::kKey},
          {"N.value", kFused, RowPart::kValue},
          {"N.attention_out", "transformer.blocks.N.attn.out_proj"},
          {"N.up", "transformer.blocks.N.ffn.up_proj"},
          {"N.down", "transformer.blocks.N.ffn.down_proj"}};
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufSizes(metadata, "attention.layer_norm_epsilon", config);
  SetMpt(config);
  config->clip_qkv = metadata.PositiveOrZero("attention.clamp_kqv");
  config->alibi_max_bias = metadata.Positive("attention.max_alibi_bias");
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.fused_attention = true}); }

}  // namespace

const Family& MptFamily() {
  static const Family family = {"mpt", "mpt",    ReadFolder, FolderTensors,
                                "mpt", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::mpt

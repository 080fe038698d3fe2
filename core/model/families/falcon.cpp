// SPDX-License-Identifier: MIT
// Falcon in its three forms: 7B (one key-value head, attention and MLP in parallel after one norm),
// 40B and 11B (new_decoder_architecture: several key-value heads; attention and MLP have separate
// norms or share one), and RW (ALiBi, attention before MLP, as many key-value heads as heads).
//
// ALiBi's bias is added to the logits before they are divided by sqrt(head_dim), and its slopes are
// rounded to bfloat16. transformers also rounds slope times position, which changes the bias by up
// to 1/512; Midscope does not. (Its eager attention, version 5.23, adds the bias twice; its default
// adds it once.)
#include <cmath>

#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::falcon {
namespace {

struct Form {
  bool grouped = false;      // new_decoder_architecture
  bool multi_query = false;  // one key-value head
  bool parallel = false;     // attention and MLP in parallel
  bool two_norms = false;    // ln_attn and ln_mlp instead of one norm for both
};

Form ReadForm(const ConfigJson& json) {
  Form form;
  form.grouped = json.Flag("new_decoder_architecture", false);
  form.multi_query = !form.grouped && json.Flag("multi_query", true);
  form.parallel = json.Flag("parallel_attn", true);
  if (form.grouped && !form.parallel)
    json.Fail("parallel_attn is false with new_decoder_architecture, which is not supported");
  const int64_t norms = json.Count("num_ln_in_parallel_attn", 2, form.grouped ? 2 : 1);
  if (norms == 2 && form.parallel && !form.grouped) {
    json.Fail(
        "num_ln_in_parallel_attn is 2 without new_decoder_architecture, which is not supported");
  }
  form.two_norms = form.grouped && norms == 2;
  return form;
}

void ReadAlibi(ModelConfig* config) {
  SetUnrotated(PositionKind::kAlibi, config);
  config->alibi_bfloat16 = true;
  config->notes.push_back(
      "ALiBi's bias is slope times distance; transformers rounds slope times position to bfloat16, "
      "which changes it by up to 1/512");
  config->alibi_scale = 1.0 / std::sqrt(static_cast<double>(config->head_dim));
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  const Form form = ReadForm(json);
  config->layers = json.Count("num_hidden_layers", kMaxLayers, 32);
  config->hidden = CountOfTwo(json, "hidden_size", "n_embed", kMaxWidth, 4544);
  config->feed_forward = json.Count("ffn_hidden_size", kMaxWidth, 4 * config->hidden);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, 65024);
  config->heads = json.Count("num_attention_heads", kMaxWidth, 71);
  config->head_dim = config->hidden / config->heads;
  config->key_value_heads = 1;
  if (!form.multi_query)
    config->key_value_heads = json.Count("num_kv_heads", kMaxWidth, config->heads);
  if (!form.multi_query && !form.grouped && config->key_value_heads != config->heads)
    json.Fail("num_kv_heads differs from num_attention_heads, and multi_query is false");
  config->trained_context = json.Count("max_position_embeddings", kMaxTokens, 2048);
  config->norm_epsilon = json.Positive("layer_norm_epsilon", 1e-5);
  config->activation = ReadActivation(json, "activation", "gelu");
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  config->parallel_residual = form.parallel;
  config->shared_norm = form.parallel && !form.two_norms;
  if (json.Flag("alibi", false)) return ReadAlibi(config);
  ReadRope(json, RopeObject(json), {}, config);
}

// Only Falcon 7B, 40B and 11B have GGUF files: llama.cpp has no ALiBi in this architecture.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  config->activation = Activation::kGelu;
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  config->parallel_residual = true;
  config->shared_norm = metadata.file().Find("blk.0.attn_norm_2.weight") == nullptr;
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufGptTensors(Bias::kMay);
  // If the file has two norms, blk.N.attn_norm_2 precedes attention and blk.N.attn_norm the MLP.
  places.insert(places.begin(),
                {"N.attention_norm", "blk.N.attn_norm_2", RowPart::kAll, Bias::kMust});
  ReplacePlace({"N.mlp_norm", "blk.N.attn_norm", RowPart::kAll, Bias::kMust}, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Form form = ReadForm(json);
  const Bias bias = BiasFlag(json, "bias", false);
  constexpr std::string_view kFused = "transformer.h.N.self_attention.query_key_value";
  const bool in_order = form.multi_query;  // [queries; key; value]
  std::vector<TensorPlace> places = {
      {"token_embedding", "transformer.word_embeddings"},
      {"output", "lm_head"},
      {"final_norm", "transformer.ln_f", RowPart::kAll, Bias::kMust},
      {"N.query", kFused, in_order ? RowPart::kQuery : RowPart::kHeadQuery, bias},
      {"N.key", kFused, in_order ? RowPart::kKey : RowPart::kHeadKey, bias},
      {"N.value", kFused, in_order ? RowPart::kValue : RowPart::kHeadValue, bias},
      {"N.attention_out", "transformer.h.N.self_attention.dense", RowPart::kAll, bias},
      {"N.up", "transformer.h.N.mlp.dense_h_to_4h", RowPart::kAll, bias},
      {"N.down", "transformer.h.N.mlp.dense_4h_to_h", RowPart::kAll, bias}};
  const auto norm = [&](std::string_view name, std::string_view file_name) {
    places.push_back({name, file_name, RowPart::kAll, Bias::kMust});
  };
  norm("N.attention_norm",
       form.two_norms ? "transformer.h.N.ln_attn" : "transformer.h.N.input_layernorm");
  norm("N.mlp_norm",
       form.two_norms ? "transformer.h.N.ln_mlp" : "transformer.h.N.post_attention_layernorm");
  return places;
}

}  // namespace

const Family& FalconFamily() {
  static const Family family = {"falcon", "falcon", ReadFolder, FolderTensors,
                                "falcon", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::falcon

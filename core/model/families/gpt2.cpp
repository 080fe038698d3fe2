// SPDX-License-Identifier: MIT
// GPT-2: learned positions, LayerNorm and biases throughout, matrices stored as [inputs, outputs].
// GPTBigCode (StarCoder 1, SantaCoder) has one key-value head and stores [outputs, inputs]; GGUF
// files of GPT-2 and GPTBigCode differ only in the number of key-value heads.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::gpt2 {
namespace {

void ReadBoth(const ConfigJson& json, ModelConfig* config) {
  ReadGptLike(json,
              {.layers = 12, .hidden = 768, .vocabulary = 50257, .heads = 12, .context = 1024},
              config);
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  SetUnrotated(PositionKind::kLearned, config);
  if (!json.Flag("scale_attn_weights", true)) config->logit_scale = 1.0;
  RefuseFlag(json, "add_cross_attention");
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadBoth(json, config);
  // The key reorder_and_upcast_attn is not read: it only changes rounding in 16 bits.
  if (json.Flag("scale_attn_by_inverse_layer_idx", false)) {
    double divisor = 0;
    for (LayerAttention& layer : config->attention) layer.logit_divisor = ++divisor;
  }
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

bool IsMultiQuery(const ConfigJson& json) { return json.Flag("multi_query", true); }

void ReadBigCode(const ConfigJson& json, ModelConfig* config) {
  ReadBoth(json, config);
  if (IsMultiQuery(json)) config->key_value_heads = 1;
}

std::vector<TensorPlace> BigCodeTensors(const ConfigJson& json) {
  constexpr std::string_view kFused = "transformer.h.N.attn.c_attn";
  const bool in_order = IsMultiQuery(json);  // [queries; key; value], else by head
  const auto place = [](std::string_view name, std::string_view file_name,
                        RowPart part = RowPart::kAll) {
    return TensorPlace{name, file_name, part, Bias::kMust};
  };
  return {{"token_embedding", "transformer.wte"},
          {"position_embedding", "transformer.wpe"},
          {"output", "lm_head"},
          place("final_norm", "transformer.ln_f"),
          place("N.attention_norm", "transformer.h.N.ln_1"),
          place("N.mlp_norm", "transformer.h.N.ln_2"),
          place("N.query", kFused, in_order ? RowPart::kQuery : RowPart::kHeadQuery),
          place("N.key", kFused, in_order ? RowPart::kKey : RowPart::kHeadKey),
          place("N.value", kFused, in_order ? RowPart::kValue : RowPart::kHeadValue),
          place("N.attention_out", "transformer.h.N.attn.c_proj"),
          place("N.up", "transformer.h.N.mlp.c_fc"),
          place("N.down", "transformer.h.N.mlp.c_proj")};
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufSizes(metadata, "attention.layer_norm_epsilon", config);
  config->activation = Activation::kGeluTanh;
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  SetUnrotated(PositionKind::kLearned, config);
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufGptTensors(Bias::kMust);
  places.push_back({"position_embedding", "position_embd"});
  return places;
}

}  // namespace

const Family& Gpt2Family() {
  static const Family family = {"gpt2", "gpt2",   ReadFolder, FolderTensors,
                                "gpt2", ReadGguf, GgufPlaces, {".attn.bias", ".attn.masked_bias"}};
  return family;
}

const Family& GptBigCodeFamily() {
  static const Family family = {
      "gpt_bigcode", "gpt_bigcode", ReadBigCode, BigCodeTensors,
      "starcoder",   ReadGguf,      GgufPlaces,  {".attn.bias", ".attn.masked_bias"}};
  return family;
}

}  // namespace midscope::gpt2

// SPDX-License-Identifier: MIT
// GPT-2: learned positions, LayerNorm and biases throughout, matrices stored as [inputs, outputs].
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::gpt2 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadGptLike(json,
              {.layers = 12, .hidden = 768, .vocabulary = 50257, .heads = 12, .context = 1024},
              config);
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  SetUnrotated(PositionKind::kLearned, config);
  if (!json.Flag("scale_attn_weights", true)) config->logit_scale = 1.0;
  // reorder_and_upcast_attn only changes rounding, and only in 16 bits.
  if (json.Flag("scale_attn_by_inverse_layer_idx", false)) {
    double divisor = 0;
    for (LayerAttention& layer : config->attention) layer.logit_divisor = ++divisor;
  }
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
  static const Family family = {
      "gpt2", "gpt2",       ReadFolder,      FolderTensors,
      "gpt2", ReadGgufGpt2, GgufGpt2Tensors, {".attn.bias", ".attn.masked_bias"}};
  return family;
}

}  // namespace midscope::gpt2

// SPDX-License-Identifier: MIT
// GPTBigCode (StarCoder 1, SantaCoder): GPT-2 with one key-value head.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::gpt_bigcode {
namespace {

bool IsMultiQuery(const ConfigJson& json) { return json.Flag("multi_query", true); }

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadGptLike(json,
              {.layers = 12, .hidden = 768, .vocabulary = 50257, .heads = 12, .context = 1024},
              config);
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  SetUnrotated(PositionKind::kLearned, config);
  if (IsMultiQuery(json)) config->key_value_heads = 1;
  if (!json.Flag("scale_attn_weights", true)) config->logit_scale = 1.0;
  RefuseFlag(json, "add_cross_attention");
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
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

}  // namespace

const Family& GptBigCodeFamily() {
  static const Family family = {
      "gpt_bigcode", "gpt_bigcode", ReadFolder,      FolderTensors,
      "starcoder",   ReadGgufGpt2,  GgufGpt2Tensors, {".attn.bias", ".attn.masked_bias"}};
  return family;
}

}  // namespace midscope::gpt_bigcode

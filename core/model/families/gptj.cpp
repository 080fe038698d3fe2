// SPDX-License-Identifier: MIT
// GPT-J: attention and MLP in parallel after one LayerNorm; the first rotary_dim dimensions of a
// head are rotated in pairs of adjacent elements; biases only in the MLP and the output matrix.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::gptj {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadGptLike(json,
              {.layers = 28, .hidden = 4096, .vocabulary = 50400, .heads = 16, .context = 2048},
              config);
  // The rope base is always 10000. A null rotary_dim would mean another layout, which no model has.
  if (json.IsNull("rotary_dim")) json.Fail("rotary_dim is null, which is not supported");
  config->rope_dimensions = json.Count("rotary_dim", kMaxWidth, 64);
  config->parallel_residual = true;
  config->shared_norm = true;
  // Refused, because a tied output matrix would still have a separate bias.
  RefuseFlag(json, "tie_word_embeddings");
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return {{"token_embedding", "transformer.wte"},
          {"output", "lm_head", RowPart::kAll, Bias::kMust},
          {"final_norm", "transformer.ln_f", RowPart::kAll, Bias::kMust},
          {"N.attention_norm", "transformer.h.N.ln_1", RowPart::kAll, Bias::kMust},
          {"N.query", "transformer.h.N.attn.q_proj", RowPart::kInterleaved},
          {"N.key", "transformer.h.N.attn.k_proj", RowPart::kInterleaved},
          {"N.value", "transformer.h.N.attn.v_proj"},
          {"N.attention_out", "transformer.h.N.attn.out_proj"},
          {"N.up", "transformer.h.N.mlp.fc_in", RowPart::kAll, Bias::kMust},
          {"N.down", "transformer.h.N.mlp.fc_out", RowPart::kAll, Bias::kMust}};
}

}  // namespace

const Family& GptJFamily() {
  static const Family family = {"gptj", "gptj",  ReadFolder, FolderTensors,
                                "",     nullptr, nullptr,    {".attn.bias", ".attn.masked_bias"}};
  return family;
}

}  // namespace midscope::gptj

// SPDX-License-Identifier: MIT
// GPT-Neo: learned positions, attention logits that are not divided by sqrt(head_dim), a sliding
// window in every other layer, biases only in the MLP and in the output projection of attention.
#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::gpt_neo {
namespace {

// Returns [layer]: "global" or "local", from attention_layers; attention_types is redundant.
std::vector<std::string> LayerKinds(const ConfigJson& json, int64_t layers) {
  std::vector<std::string> kinds = json.Texts("attention_layers");
  if (kinds.empty()) {
    if (json.IsSet("attention_types")) {
      json.Fail("attention_types is given without attention_layers, which is not supported",
                "Save the model again with transformers, which writes both");
    }
    constexpr int64_t kDefaultLayers = 24;
    for (int64_t layer = 0; layer < kDefaultLayers; ++layer)
      kinds.emplace_back(layer % 2 == 0 ? "global" : "local");
  }
  if (std::ssize(kinds) != layers) {
    json.Fail(
        fmt::format("attention_layers names {} layers; the model has {}", kinds.size(), layers));
  }
  return kinds;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  config->layers = CountOfTwo(json, "num_layers", "num_hidden_layers", kMaxLayers, 24);
  config->hidden = json.Count("hidden_size", kMaxWidth, 2048);
  config->feed_forward = json.Count("intermediate_size", kMaxWidth, 4 * config->hidden);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, 50257);
  config->heads = CountOfTwo(json, "num_heads", "num_attention_heads", kMaxWidth, 16);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context = json.Count("max_position_embeddings", kMaxTokens, 2048);
  config->norm = NormKind::kLayer;
  config->norm_epsilon = json.Positive("layer_norm_epsilon", 1e-5);
  config->gated_mlp = false;
  config->activation = ReadActivation(json, "activation_function", "gelu_new");
  config->tied_embeddings = json.Flag("tie_word_embeddings", true);
  config->logit_scale = 1.0;
  SetUnrotated(PositionKind::kLearned, config);
  const int64_t window = json.Count("window_size", kMaxTokens, 256);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  size_t layer = 0;
  for (const std::string& kind : LayerKinds(json, config->layers)) {
    if (kind == "local") {
      config->attention[layer].window = window;
    } else if (kind != "global") {
      json.Fail("attention_layers holds " + Quote(kind) + ", which is not supported yet",
                "Supported: global, local");
    }
    ++layer;
  }
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return {
      {"token_embedding", "transformer.wte"},
      {"position_embedding", "transformer.wpe"},
      {"output", "lm_head"},
      {"final_norm", "transformer.ln_f", RowPart::kAll, Bias::kMust},
      {"N.attention_norm", "transformer.h.N.ln_1", RowPart::kAll, Bias::kMust},
      {"N.mlp_norm", "transformer.h.N.ln_2", RowPart::kAll, Bias::kMust},
      {"N.query", "transformer.h.N.attn.attention.q_proj"},
      {"N.key", "transformer.h.N.attn.attention.k_proj"},
      {"N.value", "transformer.h.N.attn.attention.v_proj"},
      {"N.attention_out", "transformer.h.N.attn.attention.out_proj", RowPart::kAll, Bias::kMust},
      {"N.up", "transformer.h.N.mlp.c_fc", RowPart::kAll, Bias::kMust},
      {"N.down", "transformer.h.N.mlp.c_proj", RowPart::kAll, Bias::kMust}};
}

}  // namespace

const Family& GptNeoFamily() {
  static const Family family = {
      "gpt_neo", "gpt_neo", ReadFolder, FolderTensors,
      "",        nullptr,   nullptr,    {".attn.attention.bias", ".attn.attention.masked_bias"}};
  return family;
}

}  // namespace midscope::gpt_neo

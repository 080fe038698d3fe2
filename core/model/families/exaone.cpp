// SPDX-License-Identifier: MIT
// EXAONE 3 and 3.5: llama with different names of configuration keys and tensors.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::exaone {
namespace {

// Published files have EXAONE's key names; transformers 5 writes llama's.
void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  const auto either = [&](std::string_view key, std::string_view published) {
    return json.Has(published) ? published : key;
  };
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = either("rms_norm_eps", "layer_norm_epsilon"),
                 .activation_key = either("hidden_act", "activation_function"),
                 .rope_base = 500000.0,
                 .layers = CountOfTwo(json, "num_hidden_layers", "num_layers", kMaxLayers, 32),
                 .hidden = 4096,
                 .feed_forward = 14336,
                 .vocabulary = 102400,
                 .heads = 32,
                 .key_value_heads = 8,
                 .context = 4096},
                config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias attention = BiasFlag(json, "attention_bias", false);
  const Bias mlp = BiasFlag(json, "mlp_bias", false);
  constexpr RowPart kAll = RowPart::kAll;
  return {{"token_embedding", "transformer.wte"},
          {"output", "lm_head"},
          {"final_norm", "transformer.ln_f"},
          {"N.attention_norm", "transformer.h.N.ln_1"},
          {"N.mlp_norm", "transformer.h.N.ln_2"},
          {"N.query", "transformer.h.N.attn.attention.q_proj", kAll, attention},
          {"N.key", "transformer.h.N.attn.attention.k_proj", kAll, attention},
          {"N.value", "transformer.h.N.attn.attention.v_proj", kAll, attention},
          {"N.attention_out", "transformer.h.N.attn.attention.out_proj", kAll, attention},
          {"N.gate", "transformer.h.N.mlp.c_fc_0", kAll, mlp},
          {"N.up", "transformer.h.N.mlp.c_fc_1", kAll, mlp},
          {"N.down", "transformer.h.N.mlp.c_proj", kAll, mlp}};
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  metadata.Ignore("attention.layer_norm_epsilon");  // the same epsilon, stored twice
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& ExaoneFamily() {
  static const Family family = {"exaone", "exaone", ReadFolder, FolderTensors,
                                "exaone", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::exaone

// SPDX-License-Identifier: MIT
#include "core/model/layer_kinds.h"

#include <algorithm>
#include <vector>

#include "core/base/utf8.h"

namespace midscope {
namespace {

struct LayerKinds {
  std::string_view kinds;
  std::vector<std::string_view> names;
};

// One entry per kind; GGUF's names follow those of transformers.
const std::vector<LayerKinds>& AllLayerKinds() {
  static const std::vector<LayerKinds> all = {
      {"state space layers (Mamba), without attention",
       {"mamba", "mamba2", "falcon_mamba", "codestral_mamba"}},
      {"recurrent layers (RWKV), without attention",
       {"rwkv", "rwkv5", "rwkv6", "rwkv7", "rwkv6qwen2", "arwkv7"}},
      {"state space layers (Mamba) beside attention layers",
       {"jamba", "zamba", "zamba2", "falcon_h1", "plamo2", "falcon-h1", "plamo3"}},
      {"recurrent layers beside attention layers", {"recurrent_gemma"}},
      {"linear attention (gated delta rule) beside attention layers",
       {"kimi_linear", "kimi-linear"}},
      {"linear (lightning) attention beside attention layers", {"minimax", "minimax_m1"}},
      {"attention over latent keys and values (MLA)",
       {"deepseek_v32", "kimi_k2", "minicpm3", "plm", "glm-dsa"}},
      {"several streams beside each other (AltUp)", {"gemma3n", "gemma3n_text"}},
      {"encoder layers, whose tokens see those after them",
       {"bert",       "roberta",    "xlm-roberta",  "camembert",      "distilbert",
        "albert",     "electra",    "deberta",      "deberta-v2",     "modernbert",
        "nomic_bert", "nomic-bert", "modern-bert",  "nomic-bert-moe", "neo-bert",
        "neobert",    "eurobert",   "jina-bert-v2", "jina-bert-v3",   "gemma-embedding",
        "t5encoder"}},
      {"layers for pictures around a text part, which is not read out of such a model",
       {"vipllava", "idefics2", "paligemma", "cohere2_vision", "glm4v_moe", "aria", "fuyu"}},
      {"attention to tokens on both sides (diffusion of text)",
       {"dream", "llada", "llada-moe", "rnd1"}},
      {"attention to pictures between its layers of text", {"mllama", "mllama_text_model"}},
      {"an encoder and a decoder",
       {"t5", "mt5", "umt5", "t5gemma", "bart", "mbart", "pegasus", "led", "longt5", "marian",
        "whisper", "m2m_100"}},
  };
  return all;
}

}  // namespace

std::string_view LayerKindsOf(std::string_view name) {
  for (const LayerKinds& layers : AllLayerKinds()) {
    if (std::find(layers.names.begin(), layers.names.end(), name) != layers.names.end())
      return layers.kinds;
  }
  return {};
}

std::string NotSupported(std::string_view what, const std::string& name, const std::string& shown) {
  const std::string reason = "the " + std::string(what) + " " + Quote(name) + " is not supported";
  const std::string_view kinds = LayerKindsOf(name);
  if (!kinds.empty()) return reason + ": it has " + std::string(kinds);
  return reason + " yet" + (shown.empty() ? "" : "; its configuration shows " + shown);
}

}  // namespace midscope

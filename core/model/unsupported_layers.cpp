// SPDX-License-Identifier: MIT
#include "core/model/unsupported_layers.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

struct LayerKinds {
  std::string_view kinds;
  std::vector<std::string_view> names;
};

// One entry per kind: names are model_types of transformers, then architectures of GGUF.
const std::vector<LayerKinds>& AllLayerKinds() {
  static const std::vector<LayerKinds> all = {
      {"state space layers (Mamba), without attention",
       {"mamba", "mamba2", "falcon_mamba", "codestral_mamba"}},
      {"recurrent layers (RWKV), without attention",
       {"rwkv", "rwkv5", "rwkv6", "rwkv7", "rwkv6qwen2", "arwkv7"}},
      {"state space layers (Mamba) beside attention layers",
       {"jamba", "zamba", "zamba2", "plamo2", "plamo3"}},
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

namespace {

// A kind of layer and the keys that show it. GGUF's keys have the architecture as prefix.
struct Sign {
  std::string_view kind;
  std::vector<std::string_view> folder_keys;
  std::vector<std::string_view> gguf_keys;
};

const std::vector<Sign>& Signs() {
  static const std::vector<Sign> signs = {
      {"an encoder and a decoder",
       {"is_encoder_decoder", "num_encoder_layers", "encoder_layers", "num_decoder_layers"},
       {"decoder_start_token_id", "decoder_block_count"}},
      {"state space layers",
       {"ssm_cfg", "ssm_state_size", "ssm_config", "mamba_d_state", "mamba_d_ssm", "mamba_config",
        "mamba_num_heads", "mamba_expand", "state_size", "d_state", "time_step_rank"},
       {"ssm.state_size", "ssm.inner_size", "ssm.conv_kernel"}},
      {"recurrent layers",
       {"rwkv_version", "lru_width", "attention_hidden_size", "wkv_head_size", "rescale_every"},
       {"wkv.head_size", "rescale_every_n_layers"}},
      {"linear attention",
       {"linear_num_key_heads", "linear_num_value_heads", "linear_attn_config",
        "linear_attention_config", "linear_conv_kernel_dim"},
       {"kda.head_dim"}},
      {"convolutions",
       {"conv_L_cache", "conv_kernel", "short_conv_kernel_size"},
       {"shortconv.l_cache"}},
      {"attention in some layers alone",
       {"attn_layer_period", "attn_layer_indices", "attn_layer_offset", "hybrid_override_pattern",
        "hybrid_layer_ids"},
       {}},
      {"attention over latent keys and values (MLA)", {"kv_lora_rank"}, {"attention.kv_lora_rank"}},
      {"a choice of keys for each query", {"index_topk", "sparse_attention_config"}, {}},
      {"experts",
       {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "moe_topk"},
       {"expert_count"}},
      {"layers for pictures", {"vision_config"}, {"vision.block_count"}},
      {"layers for sounds", {"audio_config"}, {}}};
  return signs;
}

// Keys of lists that name the kind of each layer, or of each layer of a repeating pattern.
constexpr std::string_view kListsOfLayers[] = {"layer_types", "layers_block_type", "block_types"};

std::vector<std::string> Distinct(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

std::vector<std::string> ListedLayers(const ConfigJson& json, std::string_view key) {
  constexpr size_t kLength = 40;
  std::vector<std::string> names;
  try {
    for (const std::string& name : Distinct(json.Texts(key))) names.push_back(Quote(name, kLength));
  } catch (const Error&) {
    return {};  // not a list of names, so it shows nothing
  }
  return names;
}

// Returns the kinds of layers for which is_set returns true for one of the keys.
template <typename IsSet>
std::vector<std::string> ShownBySigns(std::vector<std::string_view> Sign::*keys,
                                      const IsSet& is_set) {
  std::vector<std::string> shown;
  for (const Sign& sign : Signs()) {
    const auto& of_sign = sign.*keys;
    const auto key = std::find_if(of_sign.begin(), of_sign.end(), is_set);
    if (key != of_sign.end())
      shown.push_back(std::string(sign.kind) + " (" + std::string(*key) + ")");
  }
  return shown;
}

}  // namespace

std::string ShownLayers(const ConfigJson& json) {
  std::vector<std::string> shown =
      ShownBySigns(&Sign::folder_keys, [&](std::string_view key) { return json.IsSet(key); });
  for (const std::string_view key : kListsOfLayers) {
    const std::vector<std::string> names = ListedLayers(json, key);
    if (!names.empty()) shown.push_back(std::string(key) + " " + Joined(names, " and "));
  }
  return Joined(shown, ", ");
}

std::string ShownLayers(const GgufFile& file) {
  const std::string prefix = file.GetString("general.architecture").value_or("") + ".";
  std::vector<std::string> shown = ShownBySigns(
      &Sign::gguf_keys, [&](std::string_view key) { return file.Has(prefix + std::string(key)); });
  const GgufValue* causal = file.FindValue(prefix + "attention.causal");
  const bool is_flag = causal != nullptr && causal->type == GgufType::kBool && !causal->is_array;
  if (is_flag && *causal->data == std::byte{0})
    shown.push_back("encoder layers, whose tokens see those after them (attention.causal)");
  return Joined(shown, ", ");
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// InternLM3: llama with different configuration keys for biases; in GGUF, it is stored as llama.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::internlm3 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .head_dim = 128, .key_value_heads = 2}, config);
  // A null head_dim means hidden_size / num_attention_heads.
  if (json.IsNull("head_dim")) config->head_dim = config->hidden / config->heads;
  if (json.IsNull("head_dim")) config->rope_dimensions = config->head_dim;
}

// As in transformers, all projections have biases or none; each of two keys has two names.
std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const bool attention = json.Flag("qkv_bias", json.Flag("attention_bias", false));
  const bool others = json.Flag("bias", json.Flag("mlp_bias", false));
  if (attention != others)
    json.Fail("qkv_bias and bias differ, which transformers does not support either");
  const Bias bias = attention ? Bias::kMust : Bias::kNever;
  return LlamaLikeTensors({.attention = bias, .attention_out = bias, .mlp = bias});
}

}  // namespace

const Family& InternLm3Family() {
  static const Family family = {"internlm3", "internlm3", ReadFolder, FolderTensors,
                                "",          nullptr,     nullptr};
  return family;
}

}  // namespace midscope::internlm3

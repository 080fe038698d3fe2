// SPDX-License-Identifier: MIT
// GLM-4: a part of each head is rotated, in pairs of adjacent elements; query, key and value have
// biases. glm4 also has norms after attention and MLP, as has the text part of GLM-4.1V, whose
// positions have three components (mrope), which are equal for text.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"

namespace midscope::glm {
namespace {

constexpr double kRotated = 0.5;

void ReadGlm(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1.5625e-7, .partial_rotary = kRotated, .head_dim = 128},
                config);
}

void ReadGlm4(const ConfigJson& json, ModelConfig* config) {
  ReadGlm(json, config);
  config->output_norms = true;
}

void ReadGlm4v(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .read_rope = false,
                 .layers = 40,
                 .hidden = 4096,
                 .feed_forward = 13696,
                 .vocabulary = 151552,
                 .heads = 32,
                 .key_value_heads = 2,
                 .context = 32768},
                config);
  ReadRope(json, RopeObject(json), {.partial = 1.0, .text_of_mrope = true}, config);
  config->output_norms = true;
}

std::vector<TensorPlace> GlmTensors(const ConfigJson& json) {
  return LlamaLikeTensors({.attention = BiasFlag(json, "attention_bias", true),
                           .fused_gate_up = true,
                           .interleaved = true});
}

std::vector<TensorPlace> Glm4Tensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = GlmTensors(json);
  places.push_back({"N.attention_output_norm", "model.layers.N.post_self_attn_layernorm"});
  places.push_back({"N.mlp_output_norm", "model.layers.N.post_mlp_layernorm"});
  return places;
}

void ReadGlm4Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->output_norms = true;
}

// Both file formats store rotary pairs as adjacent rows.
std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.interleaved = true, .fused_gate_up = true, .attention = Bias::kMay});
}

}  // namespace

const Family& GlmFamily() {
  static const Family family = {"glm",     "glm",          ReadGlm,   GlmTensors,
                                "chatglm", ReadGgufCommon, GgufPlaces};
  return family;
}

const Family& Glm4Family() {
  static const Family family = {"glm4", "glm4",       ReadGlm4,  Glm4Tensors,
                                "glm4", ReadGlm4Gguf, GgufPlaces};
  return family;
}

const Family& Glm4vFamily() {
  static const Family family = {"glm4v", "glm4v_text", ReadGlm4v, Glm4Tensors,
                                "",      nullptr,      nullptr};
  return family;
}

}  // namespace midscope::glm

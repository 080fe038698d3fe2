// SPDX-License-Identifier: MIT
// Llama 1 to 3.x, Vicuna, LongChat, TinyLlama, SmolLM and SmolLM2; in GGUF also Mistral and
// Mixtral, which the converter writes as llama.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::llama {
namespace {

// Reads rope_condense_ratio, by which LongChat's positions are divided, like FastChat's monkey
// patch; transformers ignores the key.
void ReadCondensedRope(const ConfigJson& json, ModelConfig* config) {
  const double ratio = json.Positive("rope_condense_ratio", 1.0);
  if (ratio == 1.0) return;
  if (config->rope_scaling.kind != RopeScalingKind::kNone) {
    json.Fail("it has both rope_condense_ratio and another rope scaling");
  }
  config->rope_scaling.kind = RopeScalingKind::kLinear;
  config->rope_scaling.factor = ratio;
  config->rope_scaling.original_context = static_cast<double>(config->trained_context);
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.layers = 32, .hidden = 4096, .feed_forward = 11008, .heads = 32, .context = 2048},
                config);
  ReadCondensedRope(json, config);
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  const int64_t window = metadata.CountOrZero("attention.sliding_window", kMaxTokens);
  SetWindow(window, config);
  config->experts = ReadGgufExperts(metadata, config->layers, config->feed_forward);
  config->experts.normalised = true;  // as in mixtral
}

std::vector<TensorPlace> GgufPlaces() {
  GgufLayout layout = kLlamaGguf;
  layout.experts = true;
  return GgufTensors(layout);
}

}  // namespace

const Family& LlamaFamily() {
  static const Family family = {"llama", "llama",  ReadFolder, TensorsByBiases,
                                "llama", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::llama

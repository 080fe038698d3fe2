// SPDX-License-Identifier: MIT
// Mistral: llama with a sliding window in every layer; Ministral and Code World Model: in some
// layers; Ministral 3: YaRN. In GGUF, Mistral and Ministral are stored as llama, without a window.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::mistral {
namespace {

constexpr int64_t kWindow = 4096;

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.layers = 32,
                 .hidden = 4096,
                 .feed_forward = 14336,
                 .heads = 32,
                 .key_value_heads = 8,
                 .context = 131072},
                config);
  // As in transformers, the window is 4,096 if the key is absent, and there is none if it is null.
  SetWindow(ReadWindow(json, kWindow), config);
}

void ReadMinistral(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  ReadLayerTypes(
      json, ReadWindow(json, kWindow), [](int64_t, int64_t) { return true; }, 0, config);
}

// Code World Model: layers 0, 4, 8, ... are global, the others have a sliding window. Refuses files
// without rope settings, for which transformers has a class default; the published file has them.
void ReadCwm(const ConfigJson& json, ModelConfig* config) {
  if (!RopeObject(json)) json.Fail("has no rope_parameters");
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .rope_base = 1e6,
                 .head_dim = 128,
                 .layers = 64,
                 .hidden = 6144,
                 .feed_forward = 21504,
                 .vocabulary = 128256,
                 .heads = 48,
                 .key_value_heads = 8,
                 .context = 131072},
                config);
  ReadLayerTypes(
      json, ReadWindow(json, 8192),
      [](int64_t layer, int64_t period) { return layer % period != 0; }, 4, config);
}

// Reads YaRN and the scale of queries by position. Refuses files without rope settings, for which
// transformers would use a class default; all published files have them.
void ReadMinistral3(const ConfigJson& json, ModelConfig* config) {
  const auto rope = RopeObject(json);
  if (!rope) json.Fail("has no rope_parameters");
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .head_dim = 128, .key_value_heads = 8}, config);
  config->query_growth = rope->PositiveOrZero("llama_4_scaling_beta");
  if (config->query_growth > 0)
    config->query_growth_context = rope->Positive("original_max_position_embeddings");
  SetWindow(ReadWindow(json, 0), config);
}

// Reads GGUF files of Ministral 3, Mistral Small 3 and Devstral 2; the last two do not scale
// queries.
void ReadMinistral3Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->query_growth = metadata.PositiveOrZero("attention.temperature_scale");
  if (config->query_growth > 0) {
    config->query_growth_context =
        static_cast<double>(metadata.Count("rope.scaling.original_context_length", kMaxTokens));
  }
}

std::vector<TensorPlace> Ministral3GgufTensors() { return GgufTensors(kLlamaGguf); }

std::vector<TensorPlace> FolderTensors(const ConfigJson&) { return LlamaLikeTensors({}); }

std::vector<TensorPlace> CwmTensors(const ConfigJson& json) {
  return LlamaLikeTensors({.mlp = BiasFlag(json, "mlp_bias", false)});
}

}  // namespace

const Family& MistralFamily() {
  static const Family family = {"mistral", "mistral", ReadFolder, FolderTensors,
                                "",        nullptr,   nullptr};
  return family;
}

const Family& MinistralFamily() {
  static const Family family = {"ministral", "ministral", ReadMinistral, FolderTensors,
                                "",          nullptr,     nullptr};
  return family;
}

const Family& CwmFamily() {
  static const Family family = {"cwm", "cwm", ReadCwm, CwmTensors, "", nullptr, nullptr};
  return family;
}

const Family& Ministral3Family() {
  static const Family family = {"ministral3",         "ministral3", ReadMinistral3,
                                FolderTensors,        "mistral3",   ReadMinistral3Gguf,
                                Ministral3GgufTensors};
  return family;
}

}  // namespace midscope::mistral

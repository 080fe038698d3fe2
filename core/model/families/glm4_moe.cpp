// SPDX-License-Identifier: MIT
// GLM-4.5 and later with experts: sigmoid scores, a bias used only to choose experts, shared
// experts, and first layers without experts. Rotary pairs are in half-split order, unlike in glm4.
// dots.llm1 and Solar Open have such experts, with the attention of qwen3 and llama.
#include <optional>

#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::glm4_moe {
namespace {

// Values of expert settings for absent keys; nullopt: the key is required.
struct Defaults {
  std::optional<int64_t> count = {};
  std::optional<int64_t> per_row = {};
  std::optional<int64_t> shared = {};
  bool normalised = false;
  int64_t dense = 0;
  int64_t width = 1408;
};

void ReadExperts(const ConfigJson& json, const Defaults& defaults, ModelConfig* config) {
  const int64_t width = json.Count("moe_intermediate_size", kMaxWidth, defaults.width);
  constexpr std::string_view kShared = "n_shared_experts";
  const int64_t shared = defaults.shared ? json.CountOrZero(kShared, kMaxExperts, *defaults.shared)
                                         : json.Count(kShared, kMaxExperts);
  config->experts = {
      .count =
          CountOfTwo(json, "n_routed_experts", "num_local_experts", kMaxExperts, defaults.count),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, defaults.per_row),
      .width = width,
      .shared_width = width * shared,
      .score = ExpertScore::kSigmoid,
      .normalised = json.Flag("norm_topk_prob", defaults.normalised),
      .choice_bias = true,
      .groups = json.Count("n_group", kMaxExperts, 1),
      .groups_per_row = json.Count("topk_group", kMaxExperts, 1),
      .scale = json.Positive("routed_scaling_factor", 1.0),
  };
  const int64_t dense = json.CountOrZero("first_k_dense_replace", kMaxLayers, defaults.dense);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers.push_back(layer >= dense);
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .partial_rotary = 0.5, .key_value_heads = 8}, config);
  if (json.Flag("use_qk_norm", false)) config->query_key_norm = QueryKeyNorm::kHead;
  ReadExperts(json, {.count = 128, .per_row = 8, .shared = 1, .normalised = true, .dense = 1},
              config);
  config->prediction_layers = json.CountOrZero("num_nextn_predict_layers", kMaxLayers, 1);
}

void ReadDots1(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.layers = 62,
                 .hidden = 4608,
                 .feed_forward = 10944,
                 .vocabulary = 152064,
                 .heads = 32,
                 .key_value_heads = 32,
                 .context = 2048},
                config);
  config->query_key_norm = QueryKeyNorm::kHead;
  ReadExperts(json, {}, config);
  ReadLayerTypes(
      json, ReadWindow(json, 4096), [](int64_t layer, int64_t first) { return layer >= first; },
      json.CountOrZero("max_window_layers", kMaxTokens, 62), config);
}

// Reads Solar Open, which has experts in every layer.
void ReadSolar(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .rope_base = 1e6,
                 .head_dim = 128,
                 .layers = 48,
                 .hidden = 4096,
                 .feed_forward = 10240,
                 .vocabulary = 196608,
                 .heads = 64,
                 .key_value_heads = 8,
                 .context = 131072},
                config);
  RefuseFlag(json, "use_qk_norm");
  ReadExperts(json, {.count = 128, .per_row = 8, .shared = 1, .normalised = true, .width = 1280},
              config);
}

std::vector<TensorPlace> Dots1Tensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddExpertPlaces(kSharedExperts, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places =
      LlamaLikeTensors({.attention = BiasFlag(json, "attention_bias", false)});
  AddExpertPlaces(kSharedExperts, places);
  return places;
}

void ReadGgufSigmoidExperts(const GgufMetadata& metadata, ModelConfig* config) {
  ExpertSettings experts = ReadGgufGroupedExperts(metadata, config->layers);
  RequireGgufSigmoidScores(metadata);
  experts.score = ExpertScore::kSigmoid;
  experts.choice_bias = true;
  config->experts = experts;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  ReadGgufPredictionLayers(metadata, config);
  if (metadata.file().Find("blk.0.attn_q_norm.weight") != nullptr)
    config->query_key_norm = QueryKeyNorm::kHead;
  ReadGgufSigmoidExperts(metadata, config);
}

void ReadDots1Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->query_key_norm = QueryKeyNorm::kHead;
  ReadGgufSigmoidExperts(metadata, config);
}

std::vector<TensorPlace> Dots1GgufPlaces() {
  return GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay, .experts = true});
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.attention = Bias::kMay, .experts = true});
  ReplacePlace({"N.mlp_norm", "blk.N.post_attention_norm"}, places);
  return places;
}

}  // namespace

const Family& Glm4MoeFamily() {
  static const Family family = {"glm4_moe", "glm4_moe", ReadFolder, FolderTensors,
                                "glm4moe",  ReadGguf,   GgufPlaces};
  return family;
}

const Family& SolarOpenFamily() {
  static const Family family = {"solar_open", "solar_open", ReadSolar, FolderTensors,
                                "",           nullptr,      nullptr};
  return family;
}

const Family& Dots1Family() {
  static const Family family = {"dots1", "dots1",       ReadDots1,      Dots1Tensors,
                                "dots1", ReadDots1Gguf, Dots1GgufPlaces};
  return family;
}

}  // namespace midscope::glm4_moe

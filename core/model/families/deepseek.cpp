// SPDX-License-Identifier: MIT
// DeepSeek V2 and V3: attention over latent keys and values (MLA), experts in groups in addition to
// shared ones, dense first layers. V3 scores experts by the sigmoid, with a bias only for the
// choice, and GLM-4.7-Flash is V3 with other defaults. Youtu-LLM has MLA without experts. Mistral
// Small 4 has MLA with queries scaled by position, and experts with softmax scores.
#include <cmath>
#include <string>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::deepseek {
namespace {

// Returns the scale of attention logits. YaRN's factor of cos and sin is included in it, squared,
// because it applies to queries and keys.
double LogitScale(const std::optional<ConfigJson>& rope, const ModelConfig& config) {
  const double plain =
      1.0 / std::sqrt(static_cast<double>(config.latent.plain + config.rope_dimensions));
  if (!rope || rope->Text("rope_type", rope->Text("type", "default")) == "default") return plain;
  const double all_dimensions = rope->PositiveOrZero("mscale_all_dim");
  if (all_dimensions == 0) return plain;
  const double magnitude = YarnMagnitude(rope->Positive("factor"), all_dimensions);
  return plain * magnitude * magnitude;
}

constexpr LatentAttention kDeepseek = {.rank = 512, .query_rank = 1536, .plain = 128, .value = 128};

// Reads the sizes of latent attention (MLA). `otherwise`: values of absent keys. `partial`: the
// default of partial_rotary_factor (RopeDefaults::partial); it has no effect.
void ReadLatent(const ConfigJson& json, const LatentAttention& otherwise, ModelConfig* config,
                std::optional<double> partial = {}) {
  LatentAttention& latent = config->latent;
  latent.rank = json.Count("kv_lora_rank", kMaxWidth, otherwise.rank);
  constexpr std::string_view kQueryRank = "q_lora_rank";
  latent.query_rank =
      json.IsNull(kQueryRank) ? 0 : json.Count(kQueryRank, kMaxWidth, otherwise.query_rank);
  latent.plain = json.Count("qk_nope_head_dim", kMaxWidth, otherwise.plain);
  latent.value = json.Count("v_head_dim", kMaxWidth, otherwise.value);
  const int64_t rotated = json.Count("qk_rope_head_dim", kMaxWidth, 64);
  const auto rope = RopeObject(json);
  config->head_dim = rotated;
  ReadRope(json, rope, {.partial = partial}, config);
  config->rope_dimensions = rotated;
  config->logit_scale = LogitScale(rope, *config);
  config->head_dim = rotated + latent.rank;
  config->key_value_heads = 1;
}

void ReadExperts(const ConfigJson& json, int64_t dense, ModelConfig* config) {
  config->experts.width = json.Count("moe_intermediate_size", kMaxWidth, config->experts.width);
  config->experts.shared_width =
      config->experts.width *
      json.CountOrZero("n_shared_experts", kMaxExperts, config->experts.shared_width);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers.push_back(layer >= dense);
}

void RequireText(const ConfigJson& json, std::string_view key, const std::string& value) {
  const std::string text = json.Text(key, value);
  if (text != value) json.Fail(json.Name(key) + " is " + Quote(text) + ", which is not supported");
}

void ReadV2(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.read_rope = false}, config);
  ReadLatent(json, kDeepseek, config);
  config->experts = {.count = CountOfTwo(json, "n_routed_experts", "num_experts", kMaxExperts, 64),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts),
                     .width = 1407,
                     .shared_width = 2,
                     .scale = json.Positive("routed_scaling_factor", 1.0)};
  RequireText(json, "scoring_func", "softmax");
  const std::string method = json.Text("topk_method", "greedy");
  if (method == "group_limited_greedy") {
    config->experts.groups = json.Count("n_group", kMaxExperts);
    config->experts.groups_per_row = json.Count("topk_group", kMaxExperts);
    config->experts.groups_by_largest = true;
  } else if (method != "greedy") {
    json.Fail("topk_method is " + Quote(method) + ", which is not supported",
              "Supported: greedy, group_limited_greedy");
  }
  ReadExperts(json, json.CountOrZero("first_k_dense_replace", kMaxLayers, 0), config);
}

void ReadV3(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.read_rope = false}, config);
  ReadLatent(json, kDeepseek, config);
  config->latent.interleaved = json.Flag("rope_interleave", true);
  config->experts = {
      .count = CountOfTwo(json, "n_routed_experts", "num_local_experts", kMaxExperts, 256),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
      .width = 2048,
      .shared_width = 1,
      .score = ExpertScore::kSigmoid,
      .normalised = json.Flag("norm_topk_prob", true),
      .choice_bias = true,
      .groups = json.Count("n_group", kMaxExperts, 8),
      .groups_per_row = json.Count("topk_group", kMaxExperts, 4),
      .scale = json.Positive("routed_scaling_factor", 2.5)};
  RequireText(json, "scoring_func", "sigmoid");
  RequireText(json, "topk_method", "noaux_tc");
  ReadExperts(json, json.CountOrZero("first_k_dense_replace", kMaxLayers, 3), config);
  config->prediction_layers =
      CountOfTwo(json, "num_nextn_predict_layers", "num_mtp_layers", kMaxLayers, 1);
}

void ReadGlmLite(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .read_rope = false,
                 .layers = 47,
                 .hidden = 2048,
                 .feed_forward = 10240,
                 .vocabulary = 154880,
                 .heads = 20,
                 .context = 202752},
                config);
  constexpr const char* kPartial = "partial_rotary_factor";
  const auto rope = RopeObject(json);
  if ((rope && rope->Has(kPartial) ? *rope : json).Positive(kPartial, 1.0) != 1.0)
    json.Fail("partial_rotary_factor is not 1, which is not supported");
  ReadLatent(json, {.rank = 512, .query_rank = 768, .plain = 192, .value = 256}, config);
  config->latent.interleaved = json.Flag("rope_interleave", true);
  config->experts = {
      .count = CountOfTwo(json, "n_routed_experts", "num_local_experts", kMaxExperts, 64),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 4),
      .width = json.Count("moe_intermediate_size", kMaxWidth, 1536),
      .score = ExpertScore::kSigmoid,
      .normalised = json.Flag("norm_topk_prob", true),
      .choice_bias = true,
      .groups = json.Count("n_group", kMaxExperts, 1),
      .groups_per_row = json.Count("topk_group", kMaxExperts, 1),
      .scale = json.Positive("routed_scaling_factor", 1.8),
      .layers = ReadMlpTypes(json, config->layers, 1)};
  config->experts.shared_width =
      config->experts.width * json.Count("n_shared_experts", kMaxExperts, 1);
  config->prediction_layers = json.CountOrZero("num_nextn_predict_layers", kMaxLayers, 1);
}

void ReadYoutu(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.tied = true,
                 .read_rope = false,
                 .layers = 32,
                 .hidden = 2048,
                 .feed_forward = 6144,
                 .vocabulary = 128256,
                 .heads = 16,
                 .context = 131072},
                config);
  ReadLatent(json, kDeepseek, config);
  config->latent.interleaved = json.Flag("rope_interleave", true);
}

// Refuses files without rope settings, for which transformers would use a class default; all
// published files have them. partial_rotary_factor must be the rotated fraction of a head.
void ReadMistral4(const ConfigJson& json, ModelConfig* config) {
  const auto rope = RopeObject(json);
  if (!rope) json.Fail("has no rope_parameters");
  ReadLlamaLike(json,
                {.read_rope = false,
                 .layers = 36,
                 .hidden = 4096,
                 .feed_forward = 12288,
                 .vocabulary = 131072,
                 .heads = 32,
                 .context = 1048576},
                config);
  ReadLatent(json, {.rank = 256, .query_rank = 1024, .plain = 64, .value = 128}, config, 1.0);
  config->latent.interleaved = json.Flag("rope_interleave", true);
  const double share = static_cast<double>(config->rope_dimensions) /
                       static_cast<double>(config->rope_dimensions + config->latent.plain);
  if (std::abs(rope->Positive("partial_rotary_factor", share) - share) > 1e-9)
    json.Fail("partial_rotary_factor is not the rotated share of a head");
  config->query_growth = rope->Positive("llama_4_scaling_beta");
  config->query_growth_context = rope->Positive("original_max_position_embeddings");
  config->experts = {
      .count = CountOfTwo(json, "n_routed_experts", "num_local_experts", kMaxExperts, 128),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 4),
      .width = 2048,
      .shared_width = 1,
      .normalised = json.Flag("norm_topk_prob", true),
      .groups = json.Count("n_group", kMaxExperts, 1),
      .groups_per_row = json.Count("topk_group", kMaxExperts, 1),
      .scale = json.Positive("routed_scaling_factor", 1.0)};
  ReadExperts(json, json.CountOrZero("first_k_dense_replace", kMaxLayers, 0), config);
}

void ReadGgufExpertsOf(const GgufMetadata& metadata, ModelConfig* config) {
  ExpertSettings experts = ReadGgufGroupedExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  constexpr int64_t kSoftmax = 1;
  constexpr int64_t kSigmoid = 2;
  const int64_t dense = metadata.CountOrZero("leading_dense_block_count", kMaxLayers);
  const std::string bias = "blk." + std::to_string(dense) + ".exp_probs_b.bias";
  experts.choice_bias = metadata.file().Find(bias) != nullptr;
  // Files of GLM-4.7-Flash may lack the key; a choice bias exists only with sigmoid scores.
  const int64_t scores =
      metadata.Count("expert_gating_func", kMaxExperts, experts.choice_bias ? kSigmoid : kSoftmax);
  if (scores != kSoftmax && scores != kSigmoid)
    metadata.Fail("expert_gating_func is neither the softmax nor the sigmoid");
  experts.score = scores == kSigmoid ? ExpertScore::kSigmoid : ExpertScore::kSoftmax;
  experts.groups_by_largest = experts.score == ExpertScore::kSoftmax;
  config->experts = experts;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "attention_bias", false);
  const Bias mlp = BiasFlag(json, "mlp_bias", false);
  std::vector<TensorPlace> places = LlamaLikeTensors({.attention_out = bias, .mlp = mlp});
  const bool in_two = !json.IsNull("q_lora_rank");
  ReplacePlace(
      {"N.query", in_two ? "model.layers.N.self_attn.q_b_proj" : "model.layers.N.self_attn.q_proj"},
      places);
  const std::vector<TensorPlace> own = {
      {"N.query_in", "model.layers.N.self_attn.q_a_proj", RowPart::kAll, bias},
      {"N.query_in_norm", "model.layers.N.self_attn.q_a_layernorm"},
      {"N.latent", "model.layers.N.self_attn.kv_a_proj_with_mqa", RowPart::kAll, bias},
      {"N.latent_norm", "model.layers.N.self_attn.kv_a_layernorm"},
      {"N.latent_out", "model.layers.N.self_attn.kv_b_proj"}};
  places.insert(places.end(), own.begin(), own.end());
  AddExpertPlaces(kSharedExperts, places);
  return places;
}

std::vector<TensorPlace> Mistral4Tensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = FolderTensors(json);
  AddStackedExpertPlaces("model.layers.N.mlp.experts.gate_up_proj",
                         "model.layers.N.mlp.experts.down_proj", Stacked::kPlain,
                         TensorEnding::kBare, places);
  return places;
}

// Reads GGUF files of V2 and V3. llama.cpp's converter has turned the latent key into one key-value
// head, and stores a tenth of mscale_all_dim. Files do not contain `mscale`, which equals
// mscale_all_dim in all published models.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  LatentAttention& latent = config->latent;
  latent.rank = metadata.Count("attention.kv_lora_rank", kMaxWidth);
  if (metadata.Has("attention.q_lora_rank"))
    latent.query_rank = metadata.Count("attention.q_lora_rank", kMaxWidth);
  ReadGgufCommon(metadata, config);
  latent.norm_epsilon = config->norm_epsilon;
  latent.value = metadata.Count("attention.value_length_mla", kMaxWidth);
  const int64_t query = metadata.Count("attention.key_length_mla", kMaxWidth);
  latent.plain = query - config->rope_dimensions;
  latent.split = metadata.file().Find("blk.0.attn_k_b.weight") != nullptr;
  if (latent.plain < 1 || config->key_value_heads != 1 ||
      config->head_dim != latent.rank + config->rope_dimensions) {
    metadata.Fail("its sizes of latent keys contradict each other", "Convert the model again");
  }
  config->logit_scale = 1.0 / std::sqrt(static_cast<double>(query));
  const double all_dimensions = 10 * metadata.PositiveOrZero("rope.scaling.yarn_log_multiplier");
  if (config->rope_scaling.kind == RopeScalingKind::kYarn && all_dimensions > 0) {
    const double magnitude = YarnMagnitude(config->rope_scaling.factor, all_dimensions);
    config->rope_scaling.attention_factor = 1.0;
    config->logit_scale *= magnitude * magnitude;
  }
  ReadGgufPredictionLayers(metadata, config);
  ReadGgufExpertsOf(metadata, config);
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.experts = true});
  const std::vector<TensorPlace> own = {{"N.query_in", "blk.N.attn_q_a"},
                                        {"N.query_in_norm", "blk.N.attn_q_a_norm"},
                                        {"N.latent", "blk.N.attn_kv_a_mqa"},
                                        {"N.latent_norm", "blk.N.attn_kv_a_norm"},
                                        {"N.latent_out", "blk.N.attn_kv_b"},
                                        {"N.latent_key_out", "blk.N.attn_k_b", RowPart::kByHead},
                                        {"N.latent_value_out", "blk.N.attn_v_b", RowPart::kByHead}};
  places.insert(places.begin(), {"N.query", "blk.N.attn_q_b"});
  places.insert(places.end(), own.begin(), own.end());
  return places;
}

}  // namespace

const Family& DeepseekV2Family() {
  static const Family family = {"deepseek_v2", "deepseek_v2", ReadV2,    FolderTensors,
                                "deepseek2",   ReadGguf,      GgufPlaces};
  return family;
}

const Family& DeepseekV3Family() {
  static const Family family = {"deepseek_v3", "deepseek_v3", ReadV3, FolderTensors, "",
                                nullptr,       nullptr};
  return family;
}

const Family& Glm4MoeLiteFamily() {
  static const Family family = {"glm4_moe_lite", "glm4_moe_lite", ReadGlmLite, FolderTensors, "",
                                nullptr,         nullptr};
  return family;
}

const Family& YoutuFamily() {
  static const Family family = {"youtu", "youtu", ReadYoutu, FolderTensors, "", nullptr, nullptr};
  return family;
}

const Family& Mistral4Family() {
  static const Family family = {"mistral4", "mistral4", ReadMistral4, Mistral4Tensors,
                                "",         nullptr,    nullptr};
  return family;
}

}  // namespace midscope::deepseek

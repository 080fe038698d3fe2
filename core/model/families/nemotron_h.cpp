// SPDX-License-Identifier: MIT
// Nemotron-H, Nemotron Nano 2, Nemotron 3: each layer is a single block: a state space, attention
// without positions, an MLP of squared ReLU, or experts.
#include <string>
#include <utility>
#include <vector>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::nemotron_h {
namespace {

constexpr char kStateSpace = 'M';
constexpr char kAttention = '*';
constexpr char kMlp = '-';
constexpr char kExperts = 'E';

// Returns one letter per layer. As in transformers, a list of names overrides the pattern string.
std::string ReadPattern(const ConfigJson& json) {
  std::vector<std::string> types = json.Texts("layers_block_type");
  if (types.empty()) types = json.Texts("layer_types");
  std::string pattern = types.empty() ? json.Text("hybrid_override_pattern", "ME*-") : "";
  for (const std::string& type : types) {
    pattern += type == "mamba" || type == "linear_attention"     ? kStateSpace
               : type == "attention" || type == "full_attention" ? kAttention
               : type == "mlp"                                   ? kMlp
               : type == "moe"                                   ? kExperts
                                                                 : '?';
    if (pattern.back() == '?')
      json.Fail("its layers hold " + Quote(type) + ", which is not supported yet");
  }
  if (pattern.find_first_not_of("M*-E") != std::string::npos || pattern.empty())
    json.Fail("hybrid_override_pattern is " + Quote(pattern), "Supported letters: M, *, -, E");
  if (std::ssize(pattern) > kMaxLayers) json.Fail("it has too many layers");
  return pattern;
}

StateSpace ReadStateSpace(const ConfigJson& json) {
  if (!json.IsUnlimited("time_step_limit"))
    json.Fail("time_step_limit limits steps, which is not supported yet");
  if (ReadActivation(json, "mamba_hidden_act", "silu") != Activation::kSilu)
    json.Fail("mamba_hidden_act is not silu, which is not supported");
  return {.heads = json.Count("mamba_num_heads", kMaxWidth, 128),
          .head_dim = json.Count("mamba_head_dim", kMaxWidth, 64),
          .groups = json.Count("n_groups", kMaxWidth, 8),
          .state_dim = json.Count("ssm_state_size", kMaxWidth, 128),
          .taps = json.Count("conv_kernel", kMostTaps, 4),
          .log_decays = true};
}

ExpertSettings ReadExperts(const ConfigJson& json) {
  if (json.Has("moe_latent_size")) json.Fail("moe_latent_size is not supported yet");
  return {.count = CountOfTwo(json, "n_routed_experts", "num_local_experts", kMaxExperts, 8),
          .per_row = json.Count("num_experts_per_tok", kMaxExperts, 2),
          .width = json.Count("moe_intermediate_size", kMaxWidth, 7688),
          .shared_width = json.Count("moe_shared_expert_intermediate_size", kMaxWidth, 7688),
          .score = ExpertScore::kSigmoid,
          .normalised = json.Flag("norm_topk_prob", true),
          .choice_bias = true,
          .groups = json.Count("n_group", kMaxExperts, 1),
          .groups_per_row = json.Count("topk_group", kMaxExperts, 1),
          .scale = json.Positive("routed_scaling_factor", 1.0)};
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  const std::string pattern = ReadPattern(json);
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "layer_norm_epsilon",
                 .activation = "relu2",
                 .activation_key = "mlp_hidden_act",
                 .read_rope = false,
                 .head_dim = 128,
                 .layers = std::ssize(pattern),
                 .hidden = 4096,
                 .feed_forward = 21504,
                 .vocabulary = 131072,
                 .heads = 32,
                 .key_value_heads = 8,
                 .context = 4096},
                config);
  if (config->layers != std::ssize(pattern))
    json.Fail("num_hidden_layers is not the number of layers in its pattern " + Quote(pattern));
  SetUnrotated(PositionKind::kNone, config);
  config->gated_mlp = false;
  config->state_space = ReadStateSpace(json);
  std::vector<bool> recurrent;
  std::vector<bool> experts;
  recurrent.reserve(pattern.size());
  experts.reserve(pattern.size());
  for (size_t layer = 0; layer < pattern.size(); ++layer) {
    const bool mixes = pattern[layer] == kStateSpace || pattern[layer] == kAttention;
    config->attention[layer].halves = mixes ? LayerHalves::kMixer : LayerHalves::kMlp;
    recurrent.push_back(pattern[layer] != kAttention);
    experts.push_back(pattern[layer] == kExperts);
  }
  SetRecurrent(recurrent, config);
  if (pattern.find(kExperts) == std::string::npos) return;
  config->experts = ReadExperts(json);
  config->experts.layers = std::move(experts);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "use_bias", false);
  const Bias mlp = BiasFlag(json, "mlp_bias", false);
  const auto bare = TensorEnding::kBare;
  std::vector<TensorPlace> places = {
      {"token_embedding", "backbone.embeddings"},
      {"output", "lm_head"},
      {"final_norm", "backbone.norm_f"},
      {"N.attention_norm", "backbone.layers.N.norm"},
      {"N.mlp_norm", "backbone.layers.N.norm"},
      {"N.query", "backbone.layers.N.mixer.q_proj"},
      {"N.key", "backbone.layers.N.mixer.k_proj"},
      {"N.value", "backbone.layers.N.mixer.v_proj"},
      {"N.attention_out", "backbone.layers.N.mixer.o_proj"},
      {"N.up", "backbone.layers.N.mixer.up_proj", RowPart::kAll, mlp},
      {"N.down", "backbone.layers.N.mixer.down_proj", RowPart::kAll, mlp},
      {"N.mixer_in", "backbone.layers.N.mixer.in_proj", RowPart::kAll, bias},
      {"N.mixer_out", "backbone.layers.N.mixer.out_proj", RowPart::kAll, bias},
      {"N.mixer_taps", "backbone.layers.N.mixer.conv1d", RowPart::kTaps,
       BiasFlag(json, "use_conv_bias", true)},
      {"N.mixer_norm", "backbone.layers.N.mixer.norm"},
      {"N.mixer_decay_bias", "backbone.layers.N.mixer.dt_bias", RowPart::kAll, Bias::kNever, bare},
      {"N.mixer_decay_scale", "backbone.layers.N.mixer.A_log", RowPart::kAll, Bias::kNever, bare},
      {"N.mixer_skip", "backbone.layers.N.mixer.D", RowPart::kAll, Bias::kNever, bare},
      {"N.shared.up", "backbone.layers.N.mixer.shared_experts.up_proj", RowPart::kAll, mlp},
      {"N.shared.down", "backbone.layers.N.mixer.shared_experts.down_proj", RowPart::kAll, mlp}};
  AddExpertPlaces({.router = "backbone.layers.N.mixer.gate",
                   .gate = {},
                   .up = "backbone.layers.N.mixer.experts.E.up_proj",
                   .down = "backbone.layers.N.mixer.experts.E.down_proj",
                   .choice_bias = "backbone.layers.N.mixer.gate.e_score_correction_bias"},
                  places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  config->state_space = ReadGgufStateSpace(metadata);
  ReadGgufSizes(metadata, "attention.layer_norm_rms_epsilon", config, /*layers_differ=*/true);
  metadata.Ignore("attention.layer_norm_epsilon");  // the same epsilon, stored twice
  // Rope keys are ignored, because llama.cpp does not rotate in this architecture.
  for (const char* key : {"rope.dimension_count", "rope.freq_base", "rope.scaling.finetuned"})
    metadata.Ignore(key);
  SetUnrotated(PositionKind::kNone, config);
  config->gated_mlp = false;
  config->activation = Activation::kSquaredRelu;
}

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  ReadGgufPredictionLayers(metadata, config);
  config->experts = ReadGgufGroupedExperts(metadata, config->layers);
  RequireGgufSigmoidScores(metadata);
  config->experts.shared_width = metadata.Count("expert_shared_feed_forward_length", kMaxWidth);
  config->experts.score = ExpertScore::kSigmoid;
  config->experts.choice_bias = true;
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers[static_cast<size_t>(layer)] = !config->MixesRows(layer);
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors(
      {.attention = Bias::kMay, .attention_out = Bias::kMay, .mlp = Bias::kMay, .experts = true});
  ReplacePlace({"N.mlp_norm", "blk.N.attn_norm"}, places);
  AddGgufStateSpacePlaces(places);
  return places;
}

}  // namespace

const Family& NemotronHFamily() {
  static const Family family = {"nemotron_h", "nemotron_h", ReadFolder, FolderTensors,
                                "nemotron_h", ReadGguf,     GgufPlaces};
  return family;
}

// Only GGUF has a separate architecture name for models with experts.
const Family& NemotronHMoeFamily() {
  static const Family family = {"nemotron_h_moe", "nemotron_h_moe", ReadFolder, FolderTensors,
                                "nemotron_h_moe", ReadMoeGguf,      GgufPlaces};
  return family;
}

}  // namespace midscope::nemotron_h

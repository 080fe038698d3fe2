// SPDX-License-Identifier: MIT
// Gemma 4, text only. Global layers have a different head size and p-RoPE: only the fastest rotary
// pairs rotate; in 12B and 31B, they have fewer key-value heads, whose key is also the value. Other
// layers have a sliding window and a separate rotary base. Queries, keys and values are normed,
// logits are not divided, and each layer's output has a learned factor. In E2B and E4B, the last
// layers reuse keys and values of the last earlier layer of their kind (global or local), and each
// layer adds an embedding of the token. 26B-A4B has experts parallel to the MLP of every layer.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/gemma_common.h"
#include "core/model/model_shapes.h"

namespace midscope::gemma4 {
namespace {

constexpr int64_t kPattern = 6;  // every sixth layer has global attention
constexpr double kBase = 1000000.0;
constexpr double kLocalBase = 10000.0;
constexpr double kTurningShare = 0.25;

// Defaults of the two configuration classes of transformers; kUnified: 12B.
struct Defaults {
  int64_t context;
  int64_t window;
  int64_t of_layer;  // hidden_size_per_layer_input
};
constexpr Defaults kPlain = {131072, 512, 256};
constexpr Defaults kUnified = {262144, 1024, 0};

Defaults DefaultsOf(const ConfigJson& json) {
  return json.Text("model_type", "") == "gemma4_unified_text" ? kUnified : kPlain;
}

void SetGemma4(ModelConfig* config) {
  SetGemma(config);
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kHead;
  config->value_norm = true;
  config->layer_scale = true;
  config->logit_scale = 1.0;
}

void RefuseOtherKinds(const ConfigJson& json) {
  const std::string sees = json.Text("use_bidirectional_attention", "");
  // "vision" is accepted, because it concerns only the tokens of images.
  if (!sees.empty() && sees != "vision")
    json.Fail("use_bidirectional_attention is " + Quote(sees) + ", which is not supported");
}

void ReadGlobalRope(const ConfigJson& json, const ConfigJson& rope, ModelConfig* config) {
  config->rope_base = rope.Positive("rope_theta");
  const std::string kind = rope.Text("rope_type", "default");
  if (kind == "default") return;
  if (kind != "proportional") {
    rope.Fail("its rope scaling " + Quote(kind) + " is not supported yet",
              "Supported: default, proportional");
  }
  const double share = rope.Positive("partial_rotary_factor", 1.0);
  if (share > 1.0) json.Fail(rope.Name("partial_rotary_factor") + " is over 1");
  const int64_t pairs = config->head_dim / 2;
  const auto turning = static_cast<int64_t>(share * static_cast<double>(config->head_dim)) / 2;
  if (turning == 0) json.Fail(rope.Name("partial_rotary_factor") + " leaves no pair that turns");
  if (turning < pairs) config->turning_pairs = turning;
  config->rope_scaling.factor = rope.Positive("factor", 1.0);
  if (config->rope_scaling.factor != 1.0) config->rope_scaling.kind = RopeScalingKind::kLinear;
}

// Reads rope settings. The layers' windows and the head size of global layers must be set.
void ReadRopes(const ConfigJson& json, ModelConfig* config) {
  config->rope_dimensions = config->head_dim;
  const auto ropes = json.Object("rope_parameters");
  if (!ropes) {
    config->rope_base = kBase;
    config->rope_local_base = kLocalBase;
    config->turning_pairs =
        static_cast<int64_t>(kTurningShare * static_cast<double>(config->head_dim)) / 2;
    return;
  }
  const auto global = ropes->Object("full_attention");
  const auto local = ropes->Object("sliding_attention");
  if (!global) json.Fail("rope_parameters holds no full_attention");
  ReadGlobalRope(json, *global, config);
  bool any = false;
  for (const LayerAttention& layer : config->attention) any = any || layer.local;
  if (!any) return;
  if (!local) json.Fail("rope_parameters holds no sliding_attention");
  config->rope_local_base = local->Positive("rope_theta");
  if (const std::string kind = local->Text("rope_type", "default"); kind != "default") {
    local->Fail("its rope scaling " + Quote(kind) + " of layers with a window is not supported yet",
                "Supported: default");
  }
}

// Sets head sizes: the model's are those of global layers; other layers override them.
void ReadHeads(const ConfigJson& json, ModelConfig* config) {
  const int64_t local_dim = config->head_dim;
  const int64_t local_heads = config->key_value_heads;
  const bool value_is_key = json.Flag("attention_k_eq_v", false);
  int64_t global_dim = json.Count("global_head_dim", kMaxWidth, 512);
  int64_t global_heads = local_heads;
  if (value_is_key) global_heads = json.Count("num_global_key_value_heads", kMaxWidth, local_heads);
  // transformers 5.24 writes per_layer_config instead of the keys for global layers.
  const auto by_layer = json.Object("per_layer_config");
  for (int64_t layer = config->layers - 1; layer >= 0; --layer) {
    LayerAttention& attention = config->attention[static_cast<size_t>(layer)];
    int64_t dim = attention.local ? local_dim : global_dim;
    int64_t heads = attention.local ? local_heads : global_heads;
    if (by_layer) {
      const auto own = by_layer->Object(std::to_string(layer));
      dim = own ? own->Count("head_dim", kMaxWidth, local_dim) : local_dim;
      heads = own ? own->Count("num_key_value_heads", kMaxWidth, local_heads) : local_heads;
      if (layer + 1 == config->layers) {
        global_dim = dim;
        global_heads = heads;
      }
    }
    if (!attention.local && dim != global_dim) {
      json.Fail(
          "per_layer_config gives the layers that see all keys heads of different sizes, "
          "which is not supported");
    }
    if (dim != global_dim) attention.head_dim = dim;
    if (heads != global_heads) attention.key_value_heads = heads;
    attention.value_is_key = value_is_key && !attention.local;
  }
  config->head_dim = global_dim;
  config->key_value_heads = global_heads;
}

// Lets the last `shared` layers read the keys of the last earlier layer of their kind (global or
// local). The layers' windows must be set. `file`: ConfigJson or GgufMetadata; `key`: for errors.
template <typename File>
void ShareKeys(const File& file, const std::string& key, int64_t shared, ModelConfig* config) {
  std::vector<LayerAttention>& layers = config->attention;
  const auto own = layers.begin() + std::max<int64_t>(0, config->layers - shared);
  for (auto layer = own; layer != layers.end(); ++layer) {
    const auto lender =
        std::find_if(std::make_reverse_iterator(own), layers.rend(),
                     [&](const LayerAttention& other) { return other.local == layer->local; });
    if (lender == layers.rend()) {
      file.Fail(fmt::format("{} is {}: no layer below layer {} has keys of its kind", key, shared,
                            layer - layers.begin()));
    }
    layer->keys_of = layers.rend() - lender - 1;
  }
}

void ReadSharedKeys(const ConfigJson& json, ModelConfig* config) {
  ShareKeys(json, json.Name("num_kv_shared_layers"),
            json.CountOrZero("num_kv_shared_layers", kMaxLayers, 0), config);
  if (!json.Flag("use_double_wide_mlp", false)) return;
  for (LayerAttention& layer : config->attention) {
    if (layer.keys_of >= 0) layer.feed_forward = 2 * config->feed_forward;
  }
}

void ReadLayerInputs(const ConfigJson& json, ModelConfig* config) {
  config->layer_input_width =
      json.CountOrZero("hidden_size_per_layer_input", kMaxWidth, DefaultsOf(json).of_layer);
  if (config->layer_input_width == 0) return;
  const int64_t vocabulary = json.Count("vocab_size_per_layer_input", kMaxTokens, 262144);
  if (vocabulary != config->vocabulary) {
    json.Fail(fmt::format("{} is {} and vocab_size {}; different numbers are not supported",
                          json.Name("vocab_size_per_layer_input"), vocabulary, config->vocabulary));
  }
}

void ReadExperts(const ConfigJson& json, ModelConfig* config) {
  if (!json.Flag("enable_moe_block", false)) return;
  config->experts = {.count = json.Count("num_experts", kMaxExperts),
                     .per_row = json.Count("top_k_experts", kMaxExperts),
                     .width = json.Count("moe_intermediate_size", kMaxWidth),
                     .normalised = true,
                     .beside_mlp = true,
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.tied = true,
                 .activation = "gelu_pytorch_tanh",
                 .activation_key = "hidden_activation",
                 .read_rope = false,
                 .head_dim = 256,
                 // Config files of Gemma4ForConditionalGeneration may omit the following keys.
                 .layers = 30,
                 .hidden = 2304,
                 .feed_forward = 9216,
                 .vocabulary = 262144,
                 .heads = 8,
                 .key_value_heads = 4,
                 .context = DefaultsOf(json).context},
                config);
  RefuseOtherKinds(json);
  SetGemma4(config);
  if (json.Has("final_logit_softcapping"))
    config->final_softcap = json.Positive("final_logit_softcapping");
  ReadLayerTypes(
      json, json.Count("sliding_window", kMaxTokens, DefaultsOf(json).window),
      [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; }, kPattern, config);
  config->attention.back().window = 0;  // the last layer is global, whatever layer_types says
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
  ReadHeads(json, config);
  ReadRopes(json, config);
  ReadSharedKeys(json, config);
  ReadLayerInputs(json, config);
  ReadExperts(json, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json, {.output_norms = true});
  const auto bare = [](std::string_view name, std::string_view file_name,
                       RowPart part = RowPart::kAll) {
    return TensorPlace{name, file_name, part, Bias::kNever, TensorEnding::kBare};
  };
  constexpr std::string_view kGateUp = "model.layers.N.experts.gate_up_proj";
  const std::initializer_list<TensorPlace> more = {
      bare("N.layer_scale", "model.layers.N.layer_scalar"),
      bare("N.router_norm", "model.layers.N.router.scale"),
      bare("N.expert_scale", "model.layers.N.router.per_expert_scale"),
      bare("N.experts.E.gate", kGateUp, RowPart::kExpertGate),
      bare("N.experts.E.up", kGateUp, RowPart::kExpertUp),
      bare("N.experts.E.down", "model.layers.N.experts.down_proj", RowPart::kExpert),
      {"layer_embedding", "model.embed_tokens_per_layer"},
      {"layer_projection", "model.per_layer_model_projection"},
      {"layer_projection_norm", "model.per_layer_projection_norm"},
      {"N.layer_input_gate", "model.layers.N.per_layer_input_gate"},
      {"N.layer_input_out", "model.layers.N.per_layer_projection"},
      {"N.layer_input_norm", "model.layers.N.post_per_layer_input_norm"},
      {"N.router", "model.layers.N.router.proj"},
      {"N.mlp_inner_norm", "model.layers.N.post_feedforward_layernorm_1"},
      {"N.expert_norm", "model.layers.N.pre_feedforward_layernorm_2"},
      {"N.expert_output_norm", "model.layers.N.post_feedforward_layernorm_2"}};
  places.insert(places.end(), more);
  return places;
}

// Reads head sizes and MLP widths that differ between layers. The layers' windows must be set.
void ReadGgufHeads(const GgufMetadata& metadata, ModelConfig* config) {
  const int64_t local_dim = metadata.Count("attention.key_length_swa", kMaxWidth, config->head_dim);
  for (const auto& [key, dim] : {std::pair{"attention.value_length_swa", local_dim},
                                 std::pair{"rope.dimension_count_swa", local_dim},
                                 std::pair{"rope.dimension_count", config->head_dim}}) {
    if (const int64_t value = metadata.Count(key, kMaxWidth, dim); value != dim) {
      metadata.Fail(fmt::format("{} is {}, which is not supported for heads of {}",
                                metadata.Key(key), value, dim));
    }
  }
  const auto heads = metadata.CountsOfLayers("attention.head_count_kv", config->layers, kMaxWidth);
  const auto widths = metadata.CountsOfLayers("feed_forward_length", config->layers, kMaxWidth);
  for (size_t layer = 0; layer < heads.size(); ++layer) {
    LayerAttention& attention = config->attention[layer];
    if (attention.local && local_dim != config->head_dim) attention.head_dim = local_dim;
    if (heads[layer] != config->key_value_heads) attention.key_value_heads = heads[layer];
    if (widths[layer] != config->feed_forward) attention.feed_forward = widths[layer];
    attention.value_is_key =
        metadata.file().Find(fmt::format("blk.{}.attn_v.weight", layer)) == nullptr;
  }
}

// p-RoPE is stored as frequency divisors of global layers: 1, then 1e30 for unrotated pairs.
void ReadGgufTurningPairs(const GgufMetadata& metadata, ModelConfig* config) {
  constexpr double kStopped = 1e20;
  config->rope_dimensions = config->head_dim;
  const std::vector<double> factors = ReadGgufFactors(metadata, "rope_freqs.weight", *config);
  const auto stopped =
      std::find_if(factors.begin(), factors.end(), [](double x) { return x != 1; });
  if (stopped == factors.begin() ||
      std::any_of(stopped, factors.end(), [](double x) { return x < kStopped; })) {
    metadata.Fail("tensor rope_freqs.weight must hold 1 for the pairs that turn, then 1e30");
  }
  config->turning_pairs = stopped - factors.begin();
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufSizes(metadata, "attention.layer_norm_rms_epsilon", config, /*layers_differ=*/true);
  SetGemma4(config);
  config->activation = Activation::kGeluTanh;
  config->final_softcap = metadata.PositiveOrZero("final_logit_softcapping");
  metadata.Count("attention.sliding_window", kMaxTokens);  // the key is required
  ReadGgufWindows(metadata, kPattern, config);
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
  ReadGgufHeads(metadata, config);
  config->rope_base = metadata.Positive("rope.freq_base", kBase);
  config->rope_local_base = metadata.Positive("rope.freq_base_swa", kLocalBase);
  ReadGgufTurningPairs(metadata, config);
  constexpr const char* kShared = "attention.shared_kv_layers";
  ShareKeys(metadata, metadata.Key(kShared), metadata.CountOrZero(kShared, kMaxLayers), config);
  config->layer_input_width = metadata.CountOrZero("embedding_length_per_layer_input", kMaxWidth);
  config->experts = ReadGgufExperts(metadata, config->layers);
  config->experts.normalised = config->experts.count > 0;
  config->experts.beside_mlp = config->experts.count > 0;
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.experts = true});
  constexpr std::string_view kGateUp = "blk.N.ffn_gate_up_exps";
  const std::initializer_list<TensorPlace> more = {
      {"N.experts.E.gate", kGateUp, RowPart::kExpertGate},
      {"N.experts.E.up", kGateUp, RowPart::kExpertUp},
      {"N.router_norm", "blk.N.ffn_gate_inp.scale", RowPart::kAll, Bias::kNever,
       TensorEnding::kBare},
      {"N.expert_scale", "blk.N.ffn_down_exps.scale", RowPart::kAll, Bias::kNever,
       TensorEnding::kBare},
      {"N.mlp_inner_norm", "blk.N.post_ffw_norm_1"},
      {"N.expert_norm", "blk.N.pre_ffw_norm_2"},
      {"N.expert_output_norm", "blk.N.post_ffw_norm_2"},
      {"N.layer_scale", "blk.N.layer_output_scale"},
      {"layer_embedding", "per_layer_token_embd"},
      {"layer_projection", "per_layer_model_proj"},
      {"layer_projection_norm", "per_layer_proj_norm"},
      {"N.layer_input_gate", "blk.N.inp_gate"},
      {"N.layer_input_out", "blk.N.proj"},
      {"N.layer_input_norm", "blk.N.post_norm"}};
  places.insert(places.end(), more);
  return places;
}

}  // namespace

const Family& Gemma4Family() {
  static const Family family = {"gemma4", "gemma4_text", ReadFolder, FolderTensors,
                                "gemma4", ReadGguf,      GgufPlaces};
  return family;
}

}  // namespace midscope::gemma4

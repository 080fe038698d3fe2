// SPDX-License-Identifier: MIT
#include "core/model/families/common.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/utf8.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"
#include "kernels/check.h"

namespace midscope {

Activation ReadActivation(const ConfigJson& json, std::string_view key,
                          std::string_view otherwise) {
  const std::string name = json.Text(key, std::string(otherwise));
  if (name == "silu" || name == "swish") return Activation::kSilu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast") {
    return Activation::kGeluTanh;
  }
  if (name == "relu") return Activation::kRelu;
  if (name == "relu2") return Activation::kSquaredRelu;
  json.Fail("its activation " + Quote(name) + " is not supported yet",
            "Supported: silu, gelu, gelu_pytorch_tanh, relu, relu2");
}

void ReadLlamaLike(const ConfigJson& json, const FolderDefaults& defaults, ModelConfig* config) {
  config->layers = json.Count("num_hidden_layers", kMaxLayers, defaults.layers);
  config->hidden = json.Count("hidden_size", kMaxWidth, defaults.hidden);
  config->feed_forward = json.Count("intermediate_size", kMaxWidth, defaults.feed_forward);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, defaults.vocabulary);
  config->heads = json.Count("num_attention_heads", kMaxWidth, defaults.heads);
  constexpr std::string_view kKeyHeads = "num_key_value_heads";
  config->key_value_heads =
      json.IsNull(kKeyHeads)
          ? config->heads
          : json.Count(kKeyHeads, kMaxWidth, defaults.key_value_heads.value_or(config->heads));
  const int64_t implied = config->hidden / config->heads;
  config->head_dim = json.Count("head_dim", kMaxWidth, defaults.head_dim.value_or(implied));
  config->trained_context =
      std::max(json.Count("max_position_embeddings", kMaxTokens, defaults.context),
               json.Count("max_sequence_length", kMaxTokens, 1));
  config->norm_epsilon = json.Positive(defaults.norm_epsilon_key, defaults.norm_epsilon);
  config->activation = ReadActivation(json, defaults.activation_key, defaults.activation);
  config->tied_embeddings = json.Flag("tie_word_embeddings", defaults.tied);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  if (defaults.read_rope) {
    ReadRope(json, RopeObject(json),
             {.base = defaults.rope_base, .partial = defaults.partial_rotary}, config);
  }
}

int64_t CountOfTwo(const ConfigJson& json, std::string_view key, std::string_view other,
                   int64_t max, std::optional<int64_t> otherwise) {
  if (!json.Has(other)) return json.Count(key, max, otherwise);
  const int64_t count = json.Count(other, max);
  if (json.Count(key, max, count) != count)
    json.Fail(json.Name(key) + " and " + json.Name(other) + " differ; both name the same number");
  return count;
}

void ReadGptLike(const ConfigJson& json, const GptDefaults& defaults, ModelConfig* config) {
  config->layers = CountOfTwo(json, "n_layer", "num_hidden_layers", kMaxLayers, defaults.layers);
  config->hidden = CountOfTwo(json, "n_embd", "hidden_size", kMaxWidth, defaults.hidden);
  config->feed_forward = json.Count("n_inner", kMaxWidth, 4 * config->hidden);
  config->vocabulary = json.Count("vocab_size", kMaxTokens, defaults.vocabulary);
  config->heads = CountOfTwo(json, "n_head", "num_attention_heads", kMaxWidth, defaults.heads);
  config->key_value_heads = config->heads;
  config->head_dim = config->hidden / config->heads;
  config->trained_context =
      CountOfTwo(json, "n_positions", "max_position_embeddings", kMaxTokens, defaults.context);
  config->norm_epsilon = json.Positive("layer_norm_epsilon", 1e-5);
  config->activation = ReadActivation(json, "activation_function", "gelu_new");
  config->attention.assign(static_cast<size_t>(config->layers), {});
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
}

void RefuseFlag(const ConfigJson& json, std::string_view key) {
  if (json.Flag(key, false)) json.Fail(json.Name(key) + " is true, which is not supported yet");
}

void SetWindow(int64_t window, ModelConfig* config) {
  for (LayerAttention& layer : config->attention) layer.window = window;
}

void RotateInWindowsAlone(ModelConfig* config) {
  for (LayerAttention& layer : config->attention) layer.rotary = layer.window > 0;
}

void ReadRotaryLayers(const ConfigJson& json, int64_t interval, bool may_be_longer,
                      ModelConfig* config) {
  const std::vector<int64_t> rotary = json.Flags("no_rope_layers");
  interval = json.Count("no_rope_layer_interval", kMaxLayers, interval);
  const int64_t named = std::ssize(rotary);
  const bool fits = may_be_longer ? named >= config->layers : named == config->layers;
  if (!rotary.empty() && !fits) {
    json.Fail(
        fmt::format("no_rope_layers names {} layers; the model has {}", named, config->layers));
  }
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    const auto index = static_cast<size_t>(layer);
    config->attention[index].rotary =
        rotary.empty() ? (layer + 1) % interval != 0 : rotary[index] != 0;
  }
}

void SetUnrotated(PositionKind positions, ModelConfig* config) {
  config->positions = positions;
  config->rope_dimensions = config->head_dim;  // not used; always a valid number
}

void SetRecurrent(const std::vector<bool>& without_attention, ModelConfig* config) {
  for (size_t layer = 0; layer < without_attention.size(); ++layer) {
    LayerAttention& attention = config->attention[layer];
    attention.mixing =
        without_attention[layer] && attention.mixes() ? RowMixing::kMixer : RowMixing::kAttention;
    attention.rotary = !without_attention[layer];
  }
  const auto count = std::count(without_attention.begin(), without_attention.end(), true);
  if (count == 0) return;
  const auto alone = std::count_if(config->attention.begin(), config->attention.end(),
                                   [](const LayerAttention& layer) { return !layer.mixes(); });
  config->notes.push_back(fmt::format(
      "{} of its {} layers have no attention ({} mixes {}): "
      "what is measured of attention is 0 there",
      count, without_attention.size(), config->Mixer().kind,
      alone > 0 ? fmt::format("the tokens in {}, {} are an MLP alone", count - alone, alone)
                : "their tokens"));
}

void SetMixerBesideAttention(ModelConfig* config) {
  for (LayerAttention& attention : config->attention) attention.mixing = RowMixing::kBoth;
  config->notes.push_back(
      fmt::format("beside the attention of each layer {} mixes its tokens: what is measured of "
                  "attention leaves that out",
                  config->Mixer().kind));
}

// mamba_d_head is not read: transformers refuses a model where it is not that of the width.
StateSpace ReadFolderStateSpace(const ConfigJson& json, int64_t width, const ModelConfig& config) {
  StateSpace space = {.heads = json.Count("mamba_n_heads", kMaxWidth, 128),
                      .groups = json.Count("mamba_n_groups", kMaxWidth, 1),
                      .state_dim = json.Count("mamba_d_state", kMaxWidth, 256),
                      .taps = json.Count("mamba_d_conv", kMostTaps, 4),
                      .log_decays = true};
  if (width % space.heads != 0)
    json.Fail(fmt::format("mamba_n_heads does not divide {}, the state space's width", width));
  space.head_dim = width / space.heads;
  if (!json.IsUnlimited("time_step_limit"))
    json.Fail("time_step_limit limits steps, which is not supported yet");
  if (config.activation != Activation::kSilu) {
    json.Fail(
        "hidden_act is not silu, which is not supported: it is also the activation of the "
        "convolutions");
  }
  return space;
}

void AddFolderStateSpacePlaces(const ConfigJson& json, Bias out, std::vector<TensorPlace>& places) {
  const auto bare = [&](std::string_view name, std::string_view file_name) {
    places.push_back({name, file_name, RowPart::kAll, Bias::kNever, TensorEnding::kBare});
  };
  places.push_back({"N.mixer_in", "model.layers.N.mamba.in_proj", RowPart::kAll,
                    BiasFlag(json, "mamba_proj_bias", false)});
  places.push_back({"N.mixer_out", "model.layers.N.mamba.out_proj", RowPart::kAll, out});
  places.push_back({"N.mixer_taps", "model.layers.N.mamba.conv1d", RowPart::kTaps,
                    BiasFlag(json, "mamba_conv_bias", true)});
  places.push_back({"N.mixer_norm", "model.layers.N.mamba.norm"});
  bare("N.mixer_decay_bias", "model.layers.N.mamba.dt_bias");
  bare("N.mixer_decay_scale", "model.layers.N.mamba.A_log");
  bare("N.mixer_skip", "model.layers.N.mamba.D");
}

int64_t ReadWindow(const ConfigJson& json, int64_t otherwise) {
  constexpr std::string_view kKey = "sliding_window";
  if (json.IsNull(kKey)) return 0;
  return json.Has(kKey) ? json.Count(kKey, kMaxTokens) : otherwise;
}

std::vector<bool> ReadLayersOfKind(const ConfigJson& json, const std::string& kind,
                                   const std::function<bool(int64_t)>& by_default, int64_t count) {
  std::vector<std::string> types = json.Texts("layer_types");
  for (std::string& type : types) {  // old names, as in transformers
    if (type == "mamba") type = "linear_attention";
    if (type == "attention") type = "full_attention";
  }
  if (!types.empty() && std::ssize(types) != count) {
    json.Fail(fmt::format("layer_types names {} layers; the model has {}", types.size(), count));
  }
  std::vector<bool> layers;
  layers.reserve(static_cast<size_t>(count));
  for (int64_t layer = 0; layer < count; ++layer) {
    const std::string type = types.empty() ? "" : types[static_cast<size_t>(layer)];
    layers.push_back(types.empty() ? by_default(layer) : type == kind);
    if (!types.empty() && type != kind && type != "full_attention") {
      json.Fail("layer_types holds " + Quote(type) + ", which is not supported yet",
                "Supported: full_attention, " + kind);
    }
  }
  return layers;
}

void ReadLayerTypes(const ConfigJson& json, int64_t window, bool (*is_local)(int64_t, int64_t),
                    int64_t argument, ModelConfig* config) {
  const std::vector<bool> local = ReadLayersOfKind(
      json, "sliding_attention", [&](int64_t layer) { return is_local(layer, argument); },
      config->layers);
  for (size_t layer = 0; layer < local.size(); ++layer) {
    if (local[layer]) config->attention[layer].window = window;
  }
}

void ReplacePlace(const TensorPlace& place, std::vector<TensorPlace>& places) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const TensorPlace& other) {
    return other.name == place.name;
  });
  MIDSCOPE_CHECK(found != places.end(), "no such place");
  *found = place;
}

Bias BiasFlag(const ConfigJson& json, std::string_view key, bool otherwise) {
  return json.Flag(key, otherwise) ? Bias::kMust : Bias::kNever;
}

std::vector<TensorPlace> TensorsByAttentionBias(const ConfigJson& json, FolderLayout layout) {
  layout.attention = BiasFlag(json, "attention_bias", false);
  layout.attention_out = layout.attention;
  return LlamaLikeTensors(layout);
}

std::vector<TensorPlace> TensorsByBiases(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.mlp = BiasFlag(json, "mlp_bias", false)});
}

std::vector<TensorPlace> LlamaLikeTensors(const FolderLayout& layout) {
  std::vector<TensorPlace> places = {
      {"token_embedding", "model.embed_tokens"},
      {"output", "lm_head"},
      {"final_norm", "model.norm", RowPart::kAll, layout.norms},
      {"N.query_norm", "model.layers.N.self_attn.q_norm"},
      {"N.key_norm", "model.layers.N.self_attn.k_norm"},
      {"N.attention_norm", "model.layers.N.input_layernorm", RowPart::kAll, layout.norms},
      {"N.attention_out", "model.layers.N.self_attn.o_proj", RowPart::kAll, layout.attention_out},
      {"N.down", "model.layers.N.mlp.down_proj", RowPart::kAll, layout.mlp}};
  const auto add = [&](std::initializer_list<TensorPlace> more) {
    places.insert(places.end(), more);
  };
  if (layout.output_norms) {
    add({{"N.attention_output_norm", "model.layers.N.post_attention_layernorm"},
         {"N.mlp_norm", "model.layers.N.pre_feedforward_layernorm"},
         {"N.mlp_output_norm", "model.layers.N.post_feedforward_layernorm"}});
  } else {
    add({{"N.mlp_norm", "model.layers.N.post_attention_layernorm", RowPart::kAll, layout.norms}});
  }
  if (layout.fused) {
    constexpr std::string_view kFused = "model.layers.N.self_attn.qkv_proj";
    add({{"N.query", kFused, RowPart::kQuery, layout.attention},
         {"N.key", kFused, RowPart::kKey, layout.attention},
         {"N.value", kFused, RowPart::kValue, layout.attention}});
  } else {
    const RowPart rotary = layout.interleaved ? RowPart::kInterleaved : RowPart::kAll;
    add({{"N.query", "model.layers.N.self_attn.q_proj", rotary, layout.attention},
         {"N.key", "model.layers.N.self_attn.k_proj", rotary, layout.attention},
         {"N.value", "model.layers.N.self_attn.v_proj", RowPart::kAll, layout.attention}});
  }
  if (layout.fused_gate_up) {
    add({{"N.gate", "model.layers.N.mlp.gate_up_proj", RowPart::kGate, layout.mlp},
         {"N.up", "model.layers.N.mlp.gate_up_proj", RowPart::kUp, layout.mlp}});
  } else {
    add({{"N.gate", "model.layers.N.mlp.gate_proj", RowPart::kAll, layout.mlp},
         {"N.up", "model.layers.N.mlp.up_proj", RowPart::kAll, layout.mlp}});
  }
  return places;
}

void ReadQwenWindow(const ConfigJson& json, ModelConfig* config, int64_t full_layers) {
  if (!json.Flag("use_sliding_window", false) || json.IsNull("sliding_window")) return;
  const int64_t window = json.Count("sliding_window", kMaxTokens, 4096);
  const int64_t first = json.CountOrZero("max_window_layers", kMaxTokens, full_layers);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t begin) { return layer >= begin; }, first, config);
}

}  // namespace midscope

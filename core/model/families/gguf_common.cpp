// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope {

std::vector<double> ReadGgufFactors(const GgufMetadata& metadata, const char* name,
                                    const ModelConfig& config) {
  const GgufTensor* tensor = metadata.file().Find(name);
  if (tensor == nullptr) return {};
  const std::vector<int64_t> wanted = {config.rope_dimensions / 2};
  if (tensor->shape != wanted) {
    metadata.Fail("tensor " + std::string(name) + " has shape " + ShapeText(tensor->shape) +
                  "; the model needs " + ShapeText(wanted));
  }
  std::vector<float> values(static_cast<size_t>(tensor->elements()));
  kernels::Dequantise(tensor->format.type, tensor->data, tensor->elements(), values.data());
  for (const float value : values) {
    if (!std::isfinite(value) || value <= 0.0f) {
      metadata.Fail(
          fmt::format("tensor {} holds {}; rope factors must be positive numbers", name, value));
    }
  }
  return {values.begin(), values.end()};
}

namespace {

// Reads rope scaling that llama.cpp's converter has stored as one divisor per rotary pair: in one
// tensor for llama3, in two for longrope.
void ReadFactorTensors(const GgufMetadata& metadata, ModelConfig* config) {
  RopeScaling* scaling = &config->rope_scaling;
  const std::vector<double> all = ReadGgufFactors(metadata, "rope_freqs.weight", *config);
  const std::vector<double> short_factors =
      ReadGgufFactors(metadata, "rope_factors_short.weight", *config);
  const std::vector<double> long_factors =
      ReadGgufFactors(metadata, "rope_factors_long.weight", *config);
  if (all.empty() && short_factors.empty() && long_factors.empty()) return;
  if (scaling->kind != RopeScalingKind::kNone) {
    metadata.Fail("it scales rope both by metadata and by tensors of factors");
  }
  if (short_factors.empty() != long_factors.empty() || all.empty() == short_factors.empty()) {
    metadata.Fail("its tensors of rope factors contradict each other", "Convert the model again");
  }
  scaling->kind = RopeScalingKind::kLongRope;
  scaling->short_factors = all.empty() ? short_factors : all;
  scaling->long_factors = all.empty() ? long_factors : all;
  scaling->attention_factor = 1.0;
  const auto context = static_cast<double>(config->trained_context);
  scaling->original_context = context;
  if (!all.empty()) return;
  scaling->original_context = static_cast<double>(
      metadata.Count("rope.scaling.original_context_length", kMaxTokens, config->trained_context));
  scaling->factor = context / scaling->original_context;
  const double by_formula =
      scaling->factor <= 1.0
          ? 1.0
          : std::sqrt(1.0 + std::log(scaling->factor) / std::log(scaling->original_context));
  scaling->attention_factor = metadata.Positive("rope.scaling.attn_factor", by_formula);
}

// Returns YaRN's factor of cos and sin, computed as in llama.cpp: the usual formula, divided by the
// formula's value for mscale_all_dim if the file has that key, times rope.scaling.attn_factor.
double YarnAttentionFactor(const GgufMetadata& metadata, double factor) {
  const double all_dimensions = metadata.PositiveOrZero("rope.scaling.yarn_log_multiplier");
  const double by_formula =
      all_dimensions == 0.0 ? YarnMagnitude(factor, 1.0)
                            : YarnMagnitude(factor, 1.0) / YarnMagnitude(factor, all_dimensions);
  const double attention = metadata.Positive("rope.scaling.attn_factor", 1.0) * by_formula;
  // llama.cpp ignores yarn_attn_factor, transformers uses it: it must equal the formula's result.
  const double own = metadata.Positive("rope.scaling.yarn_attn_factor", 1.0);
  if (own != 1.0 && std::abs(own - attention) > 1e-4) {
    metadata.Fail(fmt::format("{} is {} where {} follows from its other settings",
                              metadata.Key("rope.scaling.yarn_attn_factor"), own, attention));
  }
  if (const double share = metadata.Positive("rope.scaling.yarn_ext_factor", 1.0); share != 1.0) {
    metadata.Fail(fmt::format("{} is {}, which is not supported yet",
                              metadata.Key("rope.scaling.yarn_ext_factor"), share));
  }
  return attention;
}

void ReadScalingKeys(const GgufMetadata& metadata, ModelConfig* config) {
  RopeScaling* scaling = &config->rope_scaling;
  const double linear = metadata.Positive("rope.scale_linear", 1.0);
  const double factor = metadata.Positive("rope.scaling.factor", linear);
  const std::string kind = metadata.Text("rope.scaling.type", factor == 1.0 ? "none" : "linear");
  metadata.Ignore("rope.scaling.finetuned");  // whether the scaling was trained; no effect
  metadata.Ignore("rope.scaling.original_context_length");  // read below if it matters
  if (kind == "longrope" && metadata.file().Find("rope_factors_short.weight") == nullptr) {
    metadata.Fail("its rope scaling is longrope, but it has no tensor rope_factors_short.weight");
  }
  if (kind == "none" || kind == "longrope") return;
  if (kind != "linear" && kind != "yarn") {
    metadata.Fail("its rope scaling " + Quote(kind) + " is not supported yet",
                  "Supported: none, linear, yarn, longrope");
  }
  scaling->factor = factor;
  scaling->original_context = static_cast<double>(config->trained_context);
  if (kind == "linear") {
    if (factor != 1.0) scaling->kind = RopeScalingKind::kLinear;
    return;
  }
  scaling->kind = RopeScalingKind::kYarn;
  scaling->original_context = static_cast<double>(
      metadata.Count("rope.scaling.original_context_length", kMaxTokens, config->trained_context));
  scaling->beta_fast = metadata.Positive("rope.scaling.yarn_beta_fast", 32.0);
  scaling->beta_slow = metadata.Positive("rope.scaling.yarn_beta_slow", 1.0);
  scaling->attention_factor = YarnAttentionFactor(metadata, factor);
}

// Accepts only 1 (no effect) as rope.scaling.attn_factor, except for yarn and longrope.
void CheckAttentionFactor(const GgufMetadata& metadata, const ModelConfig& config) {
  const double factor = metadata.Positive("rope.scaling.attn_factor", 1.0);
  const RopeScalingKind kind = config.rope_scaling.kind;
  if (factor == 1.0 || kind == RopeScalingKind::kYarn || kind == RopeScalingKind::kLongRope) return;
  metadata.Fail(fmt::format("{} is {}, which is not supported with this rope scaling",
                            metadata.Key("rope.scaling.attn_factor"), factor));
}

// Accepts keys of unsupported variants only if their value has no effect.
void CheckNeutral(const GgufMetadata& metadata) {
  if (!metadata.Flag("attention.causal", true)) {
    metadata.Fail("its attention is not causal, which is not supported");
  }
  metadata.Ignore("tensor_data_layout");  // from llama's first converter: the usual row order
  metadata.Ignore("pooling_type");  // for embedding models: how they use the last layer's output
}

void ReadGgufRope(const GgufMetadata& metadata, ModelConfig* config) {
  config->rope_base = metadata.Positive("rope.freq_base", 10000.0);
  config->rope_dimensions = metadata.Count("rope.dimension_count", kMaxWidth, config->head_dim);
  ReadScalingKeys(metadata, config);
  ReadFactorTensors(metadata, config);
  CheckAttentionFactor(metadata, *config);
}

// Layers with 0 key-value heads have no attention; all others must have the same number.
void ReadAttendingLayers(const GgufMetadata& metadata, ModelConfig* config) {
  constexpr const char* kKey = "attention.head_count_kv";
  const std::vector<int64_t> counts =
      metadata.CountsOfLayers(kKey, config->layers, kMaxWidth, /*least=*/0);
  config->key_value_heads = *std::max_element(counts.begin(), counts.end());
  std::vector<bool> recurrent;
  recurrent.reserve(counts.size());
  for (const int64_t count : counts) {
    recurrent.push_back(count == 0);
    if (count == 0 || count == config->key_value_heads) continue;
    metadata.Fail(fmt::format("{} holds {} and {}; different numbers are not supported",
                              metadata.Key(kKey), count, config->key_value_heads));
  }
  if (config->key_value_heads == 0) metadata.Fail(metadata.Key(kKey) + " holds zeros alone");
  SetRecurrent(recurrent, config);
}

}  // namespace

void ReadGgufWindows(const GgufMetadata& metadata, int64_t period, ModelConfig* config) {
  constexpr const char* kPattern = "attention.sliding_window_pattern";
  const int64_t window = metadata.CountOrZero("attention.sliding_window", kMaxTokens);
  const std::vector<bool> flags = metadata.Flags(kPattern);
  if (!flags.empty() && std::ssize(flags) != config->layers) {
    metadata.Fail(fmt::format("{} names {} layers; the model has {}", metadata.Key(kPattern),
                              flags.size(), config->layers));
  }
  if (flags.empty()) period = metadata.Count(kPattern, kMaxLayers, period);
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    const auto index = static_cast<size_t>(layer);
    const bool local = flags.empty() ? (layer + 1) % period != 0 : flags[index];
    if (local) config->attention[index].window = window;
  }
}

void ReadGgufSizes(const GgufMetadata& metadata, std::string_view epsilon_key, ModelConfig* config,
                   bool layers_differ) {
  CheckNeutral(metadata);
  config->layers = metadata.Count("block_count", kMaxLayers);
  config->hidden = metadata.Count("embedding_length", kMaxWidth);
  const bool mixes = config->HasMixers();
  const auto of_layers = [&](const char* key) {
    return metadata.CountsOfLayers(key, config->layers, kMaxWidth, /*least=*/mixes ? 0 : 1);
  };
  // feed_forward_length is absent in files in which all layers have experts.
  const bool has_width = metadata.Has("feed_forward_length") || !metadata.Has("expert_count");
  const char* width = has_width ? "feed_forward_length" : "expert_feed_forward_length";
  const std::vector<int64_t> widths =
      layers_differ ? of_layers(width) : std::vector{metadata.Count(width, kMaxWidth)};
  config->feed_forward = mixes ? *std::max_element(widths.begin(), widths.end()) : widths.front();
  config->trained_context = metadata.Count("context_length", kMaxTokens);
  config->heads = metadata.Count("attention.head_count", kMaxWidth);
  config->attention.assign(static_cast<size_t>(config->layers), {});
  if (mixes) {
    for (size_t layer = 0; layers_differ && layer < widths.size(); ++layer)
      config->attention[layer].halves = widths[layer] > 0 ? LayerHalves::kMlp : LayerHalves::kMixer;
    ReadAttendingLayers(metadata, config);
  } else {
    config->key_value_heads =
        layers_differ ? of_layers("attention.head_count_kv").back()
                      : metadata.Count("attention.head_count_kv", kMaxWidth, config->heads);
  }
  const int64_t implied = config->hidden / config->heads;
  config->head_dim = metadata.Count("attention.key_length", kMaxWidth, implied);
  if (!metadata.Has("attention.key_length") && config->hidden % config->heads != 0) {
    metadata.Fail(
        fmt::format("a width of {} is not a multiple of {} heads", config->hidden, config->heads));
  }
  const int64_t value_dim = metadata.Count("attention.value_length", kMaxWidth, implied);
  // With latent attention (MLA), the key without its rotated elements is also the value.
  const bool is_latent = config->latent.used() && value_dim == config->latent.rank;
  if (value_dim != config->head_dim && !is_latent) {
    metadata.Fail(
        fmt::format("keys of {} and values of {} dimensions a head are not supported together",
                    config->head_dim, value_dim));
  }
  config->norm_epsilon = metadata.Positive(epsilon_key);
  const GgufValue* tokens = metadata.file().FindValue("tokenizer.ggml.tokens");
  const bool has_tokens = tokens != nullptr && tokens->is_array;
  config->vocabulary = metadata.Count("vocab_size", kMaxTokens,
                                      has_tokens ? std::optional(tokens->count) : std::nullopt);
  if (has_tokens && tokens->count != config->vocabulary) {
    metadata.Fail(fmt::format("its tokenizer has {} tokens, the model {}", tokens->count,
                              config->vocabulary));
  }
  config->tied_embeddings = metadata.file().Find("output.weight") == nullptr;
}

void ReadGgufCommon(const GgufMetadata& metadata, std::string_view epsilon_key,
                    ModelConfig* config) {
  ReadGgufSizes(metadata, epsilon_key, config);
  ReadGgufRope(metadata, config);
}

void ReadGgufCommon(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
}

StateSpace ReadGgufStateSpace(const GgufMetadata& metadata) {
  StateSpace space = {.heads = metadata.Count("ssm.time_step_rank", kMaxWidth),
                      .groups = metadata.Count("ssm.group_count", kMaxWidth),
                      .state_dim = metadata.Count("ssm.state_size", kMaxWidth),
                      .taps = metadata.Count("ssm.conv_kernel", kMostTaps)};
  const int64_t width = metadata.Count("ssm.inner_size", kMaxWidth);
  if (width % space.heads != 0)
    metadata.Fail("ssm.inner_size is not a multiple of ssm.time_step_rank");
  space.head_dim = width / space.heads;
  return space;
}

void AddGgufStateSpacePlaces(std::vector<TensorPlace>& places) {
  const auto bare = [&](std::string_view name, std::string_view file_name, RowPart part) {
    places.push_back({name, file_name, part, Bias::kNever, TensorEnding::kBare});
  };
  places.push_back({"N.mixer_in", "blk.N.ssm_in", RowPart::kAll, Bias::kMay});
  places.push_back({"N.mixer_out", "blk.N.ssm_out", RowPart::kAll, Bias::kMay});
  places.push_back({"N.mixer_taps", "blk.N.ssm_conv1d", RowPart::kAll, Bias::kMay});
  places.push_back({"N.mixer_norm", "blk.N.ssm_norm", RowPart::kVector});
  bare("N.mixer_decay_bias", "blk.N.ssm_dt.bias", RowPart::kAll);
  bare("N.mixer_decay_scale", "blk.N.ssm_a", RowPart::kVector);
  bare("N.mixer_skip", "blk.N.ssm_d", RowPart::kVector);
}

std::vector<TensorPlace> GgufTensors(const GgufLayout& layout) {
  const RowPart rotary = layout.interleaved ? RowPart::kInterleaved : RowPart::kAll;
  std::vector<TensorPlace> places = {
      {"token_embedding", "token_embd"},
      {"output", "output"},
      {"final_norm", "output_norm", RowPart::kAll, layout.norms},
      {"N.attention_norm", "blk.N.attn_norm", RowPart::kAll, layout.norms},
      {"N.mlp_norm", "blk.N.ffn_norm", RowPart::kAll, layout.norms},
      {"N.attention_output_norm", "blk.N.post_attention_norm"},
      {"N.mlp_output_norm", "blk.N.post_ffw_norm"},
      {"N.query_norm", "blk.N.attn_q_norm"},
      {"N.key_norm", "blk.N.attn_k_norm"},
      {"N.attention_out", "blk.N.attn_output", RowPart::kAll, layout.attention_out},
      {"N.down", "blk.N.ffn_down", RowPart::kAll, layout.mlp}};
  const auto add = [&](std::initializer_list<TensorPlace> more) {
    places.insert(places.end(), more);
  };
  constexpr std::string_view kFused = "blk.N.attn_qkv";
  if (!layout.fused_attention) {
    add({{"N.query", "blk.N.attn_q", rotary, layout.attention},
         {"N.key", "blk.N.attn_k", rotary, layout.attention},
         {"N.value", "blk.N.attn_v", RowPart::kAll, layout.attention}});
  }
  // Fused matrices are accepted in every family, as in llama.cpp, because early files have them.
  const bool pairs = layout.interleaved;
  add({{"N.query", kFused, pairs ? RowPart::kInterleavedQuery : RowPart::kQuery, layout.attention},
       {"N.key", kFused, pairs ? RowPart::kInterleavedKey : RowPart::kKey, layout.attention},
       {"N.value", kFused, RowPart::kValue, layout.attention}});
  if (layout.fused_gate_up) {
    add({{"N.gate", "blk.N.ffn_up", RowPart::kGate, layout.mlp},
         {"N.up", "blk.N.ffn_up", RowPart::kUp, layout.mlp}});
  } else {
    add({{"N.gate", "blk.N.ffn_gate", RowPart::kAll, layout.mlp},
         {"N.up", "blk.N.ffn_up", RowPart::kAll, layout.mlp}});
  }
  if (layout.experts) AddGgufExpertPlaces(places);
  return places;
}

std::vector<TensorPlace> GgufGptTensors(Bias bias) {
  return GgufTensors({.fused_attention = true,
                      .attention = bias,
                      .attention_out = bias,
                      .mlp = bias,
                      .norms = Bias::kMust});
}

}  // namespace midscope

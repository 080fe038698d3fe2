// SPDX-License-Identifier: MIT
#include "core/model/model_shapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"

namespace midscope {
namespace {

void CheckRope(const ModelConfig& config, const std::string& thing) {
  if (config.head_dim % 2 != 0) {
    throw Failure(thing,
                  fmt::format("heads of {} dimensions are not supported; the number must be even",
                              config.head_dim));
  }
  const int64_t rotated = config.rope_dimensions;
  if (rotated < 2 || rotated % 2 != 0 || rotated > config.head_dim) {
    throw Failure(thing,
                  fmt::format("rotating {} of {} dimensions of a head is not supported", rotated,
                              config.head_dim),
                  "Supported: an even number of them");
  }
  const RopeScaling& scaling = config.rope_scaling;
  if (scaling.kind != RopeScalingKind::kLongRope) return;
  for (const auto* factors : {&scaling.short_factors, &scaling.long_factors}) {
    if (static_cast<int64_t>(factors->size()) == rotated / 2) continue;
    throw Failure(thing, fmt::format("it has {} rope factors for {} rotated pairs of dimensions",
                                     factors->size(), rotated / 2));
  }
}

// Checks token mixers. Sizes are at most 2^20 (kMaxWidth), so their products cannot overflow.
void CheckMixer(const ModelConfig& config, const std::string& thing) {
  const DeltaRule& rule = config.delta_rule;
  const StateSpace& space = config.state_space;
  const auto attends = [](const LayerAttention& layer) { return layer.attends(); };
  if (config.HasMixers() &&
      std::none_of(config.attention.begin(), config.attention.end(), attends)) {
    throw Failure(thing, "none of its layers has attention, which is not supported");
  }
  if (rule.used() && (rule.value_heads % rule.key_heads != 0 ||
                      std::max(rule.key_width(), rule.value_width()) > kMaxWidth)) {
    throw Failure(
        thing,
        fmt::format("recurrent layers with {} key heads of {} dimensions, {} value "
                    "heads of {} and a convolution of {} rows are not supported",
                    rule.key_heads, rule.key_dim, rule.value_heads, rule.value_dim, rule.taps));
  }
  if (space.used() && (space.heads % space.groups != 0 || space.width() > kMaxWidth ||
                       space.group_width() > kMaxWidth)) {
    throw Failure(thing, fmt::format("state spaces with {} heads of {} dimensions in {} groups of "
                                     "{} states are not supported",
                                     space.heads, space.head_dim, space.groups, space.state_dim));
  }
}

void CheckExperts(const ModelConfig& config, const std::string& thing) {
  const ExpertSettings& experts = config.experts;
  if (experts.count == 0) return;
  if (experts.count * config.layers > kMaxAllExperts) {
    throw Failure(thing,
                  fmt::format("{} experts in each of {} layers are not supported", experts.count,
                              config.layers),
                  fmt::format("Supported: up to {} in all layers", kMaxAllExperts));
  }
  const int64_t group = experts.count / experts.groups;
  if (experts.count % experts.groups != 0 || experts.groups_per_row > experts.groups ||
      (experts.groups > 1 && group < (experts.groups_by_largest ? 1 : 2))) {
    throw Failure(thing, fmt::format("{} experts cannot be chosen by {} of {} groups",
                                     experts.count, experts.groups_per_row, experts.groups));
  }
  if (experts.per_row > group * experts.groups_per_row) {
    throw Failure(thing, fmt::format("{} of {} experts cannot be chosen", experts.per_row,
                                     group * experts.groups_per_row));
  }
}

// Adds the matrices of one MLP. `prefix`: "N.experts.E.", or "N." for a layer's only MLP.
void AddMlp(const ModelConfig& config, int64_t layer, const std::string& prefix, int64_t expert,
            int64_t width, std::vector<NeededTensor>* tensors) {
  const auto add = [&](const char* name, std::vector<int64_t> shape) {
    tensors->push_back({prefix + name, std::move(shape), layer, expert});
  };
  if (config.gated_mlp) add("gate", {width, config.hidden});
  add("up", {width, config.hidden});
  add("down", {config.hidden, width});
}

void AddExperts(const ModelConfig& config, int64_t layer, std::vector<NeededTensor>* tensors) {
  const ExpertSettings& experts = config.experts;
  const auto add = [&](const char* name, std::vector<int64_t> shape) {
    tensors->push_back({name, std::move(shape), layer});
  };
  add("N.router", {experts.count, config.hidden});
  if (experts.choice_bias) add("N.choice_bias", {experts.count});
  for (int64_t expert = 0; expert < experts.count; ++expert)
    AddMlp(config, layer, "N.experts.E.", expert, experts.width, tensors);
  if (experts.shared_width > 0)
    AddMlp(config, layer, "N.shared.", -1, experts.shared_width, tensors);
  if (experts.shared_gate) add("N.shared_gate", {1, config.hidden});
}

void AddLatentAttention(const ModelConfig& config, int64_t layer,
                        std::vector<NeededTensor>* tensors) {
  const LatentAttention& latent = config.latent;
  const auto add = [&](const char* name, std::vector<int64_t> shape) {
    tensors->push_back({std::string("N.") + name, std::move(shape), layer});
  };
  const int64_t query_inputs = latent.query_rank > 0 ? latent.query_rank : config.hidden;
  if (latent.query_rank > 0) {
    add("query_in", {latent.query_rank, config.hidden});
    add("query_in_norm", {latent.query_rank});
  }
  add("query", {config.heads * (latent.plain + config.rope_dimensions), query_inputs});
  add("latent", {latent.rank + config.rope_dimensions, config.hidden});
  add("latent_norm", {latent.rank});
  if (latent.split) {
    add("latent_key_out", {config.heads * latent.rank, latent.plain});
    add("latent_value_out", {config.heads * latent.value, latent.rank});
  } else {
    add("latent_out", {config.heads * (latent.plain + latent.value), latent.rank});
  }
  add("attention_out", {config.hidden, config.heads * latent.value});
}

void AddMixer(const ModelConfig& config, int64_t layer, std::vector<NeededTensor>* tensors) {
  const DeltaRule& rule = config.delta_rule;
  const StateSpace& space = config.state_space;
  const MixerSizes sizes = config.Mixer();
  const auto add = [&](const char* name, std::vector<int64_t> shape) {
    tensors->push_back({std::string("N.mixer_") + name, std::move(shape), layer});
  };
  if (rule.used()) {
    add("mixed", {rule.mixed_width(), config.hidden});
    add("gate", {rule.value_width(), config.hidden});
    add("rate", {rule.value_heads, config.hidden});
    add("decay", {rule.value_heads, config.hidden});
    add("norm", {rule.value_dim});
  } else if (space.used()) {
    add("in", {space.width() + space.mixed_width() + space.heads, config.hidden});
    add("skip", {space.heads});
    if (space.norm != GatedNorm::kNone) add("norm", {space.width()});
  } else {
    add("in", {3 * config.hidden, config.hidden});
  }
  if (const int64_t heads = rule.used() ? rule.value_heads : space.heads; heads > 0) {
    add("decay_bias", {heads});
    add("decay_scale", {heads});
  }
  add("taps", {sizes.channels, sizes.taps});
  add("out", {config.hidden, sizes.outputs});
}

void AddAttention(const ModelConfig& config, int64_t layer, std::vector<NeededTensor>* tensors) {
  if (config.latent.used()) return AddLatentAttention(config, layer, tensors);
  const int64_t query = config.QueryWidth(layer);
  const int64_t key = config.KeyWidth(layer);
  tensors->push_back({"N.query", {query, config.hidden}, layer});
  const LayerAttention attention = config.AttentionOf(layer);
  if (attention.keys_of < 0) tensors->push_back({"N.key", {key, config.hidden}, layer});
  if (attention.keys_of < 0 && !attention.value_is_key)
    tensors->push_back({"N.value", {key, config.hidden}, layer});
  if (config.gated_attention)
    tensors->push_back({"N.attention_gate", {query, config.hidden}, layer});
  tensors->push_back({"N.attention_out", {config.hidden, query}, layer});
}

void AddLayer(const ModelConfig& config, int64_t layer, std::vector<NeededTensor>* tensors) {
  const int64_t hidden = config.hidden;
  const int64_t query = config.QueryWidth(layer);
  const int64_t key = config.KeyWidth(layer);
  const auto add = [&](const char* name, std::vector<int64_t> shape) {
    tensors->push_back({std::string("N.") + name, std::move(shape), layer});
  };
  if ((config.input_norms || config.stream_norms) && config.norm_weights) {
    if (config.MixesRows(layer)) add("attention_norm", {hidden});
    if (config.HasMlp(layer) && !config.shared_norm) add("mlp_norm", {hidden});
  }
  if (config.output_norms && config.norm_weights) {
    add("attention_output_norm", {hidden});
    add("mlp_output_norm", {hidden});
  }
  const bool attends = config.HasAttention(layer);
  if (attends && config.query_key_norm != QueryKeyNorm::kNone && !config.plain_query_key_norm) {
    const bool of_head = config.query_key_norm == QueryKeyNorm::kHead;
    add("query_norm", {of_head ? config.HeadDim(layer) : query});
    if (!config.SharesKeys(layer)) add("key_norm", {of_head ? config.HeadDim(layer) : key});
  }
  if (config.activation == Activation::kXielu && config.xielu.empty()) {
    for (const char* name : {"alpha_positive", "alpha_negative", "beta", "epsilon"}) add(name, {1});
  }
  if (config.attention_sinks) add("sinks", {config.heads});
  if (config.layer_scale) add("layer_scale", {1});
  if (const int64_t width = config.layer_input_width; width > 0) {
    add("layer_input_gate", {width, hidden});
    add("layer_input_out", {hidden, width});
    add("layer_input_norm", {hidden});
  }
  if (attends) AddAttention(config, layer, tensors);
  if (config.HasMixer(layer)) AddMixer(config, layer, tensors);
  if (!config.HasMlp(layer)) return;
  if (config.experts.In(layer)) {
    AddExperts(config, layer, tensors);
    if (config.experts.beside_mlp) {
      for (const char* norm :
           {"router_norm", "mlp_inner_norm", "expert_norm", "expert_output_norm"})
        add(norm, {hidden});
      add("expert_scale", {config.experts.count});
    }
  }
  if (!config.experts.In(layer) || config.experts.beside_mlp) {
    AddMlp(config, layer, "N.", -1, config.FeedForward(layer), tensors);
  }
}

}  // namespace

void CheckModelConfig(const ModelConfig& config, const std::string& thing) {
  if (config.heads % config.key_value_heads != 0) {
    throw Failure(thing, fmt::format("{} heads cannot share {} key-value heads evenly",
                                     config.heads, config.key_value_heads));
  }
  // Products of two widths cannot overflow: each is at most 2^20.
  if (config.heads * config.head_dim > kMaxWidth) {
    throw Failure(thing, fmt::format("{} heads of {} dimensions are too wide", config.heads,
                                     config.head_dim));
  }
  const int64_t expanded = std::max(config.latent.plain, config.latent.value);
  if (config.heads * (expanded + config.rope_dimensions) > kMaxWidth) {
    throw Failure(thing, fmt::format("{} heads of {} dimensions are too wide", config.heads,
                                     expanded + config.rope_dimensions));
  }
  CheckRope(config, thing);
  CheckExperts(config, thing);
  if (static_cast<int64_t>(config.attention.size()) != config.layers) {
    throw Failure(thing, fmt::format("it describes the attention of {} layers and has {}",
                                     config.attention.size(), config.layers));
  }
  CheckMixer(config, thing);
  // At most 2^20, so the product with the number of tokens cannot overflow.
  if (config.layers * config.layer_input_width > kMaxWidth) {
    throw Failure(thing, fmt::format("embeddings of {} elements for each of {} layers are too wide",
                                     config.layer_input_width, config.layers));
  }
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const int64_t source = config.AttentionOf(layer).keys_of;
    if (source >= layer ||
        (source >= 0 && (config.SharesKeys(source) ||
                         config.KeyValueHeads(source) != config.KeyValueHeads(layer) ||
                         config.HeadDim(source) != config.HeadDim(layer)))) {
      throw Failure(thing, fmt::format("layer {} cannot read the keys of layer {}", layer, source));
    }
    const int64_t width = config.HeadDim(layer);
    if (config.heads % config.KeyValueHeads(layer) == 0 && width % 2 == 0 &&
        width <= config.head_dim) {
      continue;
    }
    throw Failure(thing, fmt::format("layer {} has {} key-value heads of {} dimensions, which is "
                                     "not supported beside {} heads of up to {}",
                                     layer, config.KeyValueHeads(layer), width, config.heads,
                                     config.head_dim));
  }
}

std::string NeededTensor::NameOf(std::string_view of) const {
  std::string name(of);
  const size_t of_layer = name.starts_with("N.") ? 0 : name.find(".N.");
  if (of_layer != std::string::npos)
    name.replace(of_layer == 0 ? 0 : of_layer + 1, 1, std::to_string(layer));
  const size_t of_expert = name.find(".E.");
  if (of_expert != std::string::npos) name.replace(of_expert + 1, 1, std::to_string(expert));
  return name;
}

std::vector<NeededTensor> NeededTensors(const ModelConfig& config) {
  const int64_t embedded = config.embedding_width > 0 ? config.embedding_width : config.hidden;
  std::vector<NeededTensor> tensors = {{"token_embedding", {config.vocabulary, embedded}}};
  if (config.embedding_width > 0) {
    tensors.push_back({"embedding_in", {config.hidden, embedded}});
    tensors.push_back({"embedding_out", {embedded, config.hidden}});
  }
  if (config.positions == PositionKind::kLearned) {
    tensors.push_back(
        {"position_embedding", {config.trained_context + config.position_offset, config.hidden}});
  }
  if (config.embedding_norm) tensors.push_back({"embedding_norm", {config.hidden}});
  if (config.norm_weights && config.final_norm) tensors.push_back({"final_norm", {config.hidden}});
  if (!config.tied_embeddings) tensors.push_back({"output", {config.vocabulary, embedded}});
  if (const int64_t width = config.layer_input_width; width > 0) {
    tensors.push_back({"layer_embedding", {config.vocabulary, config.layers * width}});
    tensors.push_back({"layer_projection", {config.layers * width, config.hidden}});
    tensors.push_back({"layer_projection_norm", {width}});
  }
  for (int64_t layer = 0; layer < config.layers; ++layer) AddLayer(config, layer, &tensors);
  return tensors;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t size : shape) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", size);
  return text + "]";
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
// Formats the facts of a model, for `midscope info`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/compute/arithmetic.h"
#include "probes/cli/commands/model_facts.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/model_tables.h"
#include "probes/model/memory_estimate.h"
#include "probes/model/model_options.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

Json CountOrNull(int64_t number) { return number > 0 ? Json(number) : Json(nullptr); }
Json PositiveOrNull(double number) { return number > 0 ? Json(number) : Json(nullptr); }
Json IdOrNull(const std::optional<int64_t>& id) { return id ? Json(*id) : Json(nullptr); }

// Returns the storage that `--weights auto` selects.
WeightStorage AutomaticStorage(const ModelConfig& config, kernels::Dtype dtype) {
  return ResolveStorage(WeightStorage::kAuto, config, dtype);
}

int64_t TotalBytes(const MemoryEstimate& memory, WeightStorage storage) {
  return WeightBytes(memory, storage) + memory.trace_bytes + memory.attention_bytes;
}

Json MemoryJson(const ModelConfig& config, const std::vector<int64_t>& lengths) {
  Json rows = Json::array();
  for (const kernels::Dtype dtype : kDtypeSizes) {
    const WeightStorage storage = AutomaticStorage(config, dtype);
    for (const int64_t tokens : lengths) {
      const MemoryEstimate memory = EstimateMemory(config, dtype, tokens);
      rows.push_back({{"dtype", DtypeName(dtype)},
                      {"tokens", tokens},
                      {"weights", WeightStorageName(storage)},
                      {"weight_bytes", WeightBytes(memory, storage)},
                      {"expanded_weight_bytes", WeightBytes(memory, WeightStorage::kExpanded)},
                      {"stored_weight_bytes", memory.stored_weight_bytes},
                      {"cache_bytes", memory.cache_bytes},
                      {"trace_bytes", memory.trace_bytes},
                      {"attention_bytes", memory.attention_bytes},
                      {"total_bytes", TotalBytes(memory, storage)}});
    }
  }
  return rows;
}

std::string Megabytes(int64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
}

std::string MemoryText(const ModelConfig& config, const std::vector<int64_t>& lengths) {
  TextTable table({"dtype", "weights", "tokens", "weights MB", "key-value cache MB",
                   "what-if trace MB", "last-query attention MB", "together MB"});
  for (const kernels::Dtype dtype : kDtypeSizes) {
    const WeightStorage storage = AutomaticStorage(config, dtype);
    for (const int64_t tokens : lengths) {
      const MemoryEstimate memory = EstimateMemory(config, dtype, tokens);
      table.Add({DtypeName(dtype), WeightStorageName(storage), std::to_string(tokens),
                 Megabytes(WeightBytes(memory, storage)), Megabytes(memory.cache_bytes),
                 Megabytes(memory.trace_bytes), Megabytes(memory.attention_bytes),
                 Megabytes(TotalBytes(memory, storage))});
    }
  }
  return "\nMemory of a prompt of so many tokens (the trace holds the cache; a layer's activations "
         "come on top; weights: what --weights auto comes to; float16 takes what bfloat16 "
         "does):\n" +
         table.Text();
}

std::string_view ScalingName(RopeScalingKind kind) {
  constexpr std::string_view kNames[] = {"none", "linear", "dynamic", "llama3", "yarn", "longrope"};
  return kNames[static_cast<size_t>(kind)];
}

bool IsRotary(const ModelConfig& config) {
  return config.positions == PositionKind::kRotary && config.rope_base > 0;
}

// Returns the layers for which the predicate `of` is true.
template <typename Settings, typename Of>
std::vector<int64_t> LayersOf(const Settings& settings, Of of) {
  std::vector<int64_t> layers;
  for (size_t i = 0; i < settings.size(); ++i) {
    if (of(settings[i])) layers.push_back(static_cast<int64_t>(i));
  }
  return layers;
}

int64_t Window(const ModelConfig& config) {
  int64_t window = 0;
  for (const LayerAttention& layer : config.attention) window = std::max(window, layer.window);
  return window;
}

std::vector<int64_t> WindowLayers(const ModelConfig& config) {
  return LayersOf(config.attention, [](const LayerAttention& layer) { return layer.window > 0; });
}
std::vector<int64_t> LocalLayers(const ModelConfig& config) {
  return LayersOf(config.attention, [](const LayerAttention& layer) { return layer.local; });
}
// Returns the layers whose head sizes or numbers differ from the model's (gemma4).
std::vector<int64_t> OtherHeadLayers(const ModelConfig& config) {
  return LayersOf(config.attention, [](const LayerAttention& layer) {
    return layer.head_dim > 0 || layer.key_value_heads > 0;
  });
}
std::vector<int64_t> NoPositionLayers(const ModelConfig& config) {
  if (config.positions != PositionKind::kRotary) return {};
  return LayersOf(config.attention,
                  [](const LayerAttention& layer) { return !layer.rotary && layer.attends(); });
}

// Returns the layers with a mixer that also have attention (`attend`), or those without attention.
std::vector<int64_t> MixerLayers(const ModelConfig& config, bool attend) {
  return LayersOf(config.attention, [attend](const LayerAttention& layer) {
    return layer.has_mixer() && layer.attends() == attend;
  });
}

std::vector<int64_t> MixerLayers(const ModelConfig& config) {
  return LayersOf(config.attention, [](const LayerAttention& layer) { return layer.has_mixer(); });
}

std::vector<int64_t> LayersOfHalf(const ModelConfig& config, LayerHalves halves) {
  return LayersOf(config.attention,
                  [halves](const LayerAttention& layer) { return layer.halves == halves; });
}

std::vector<int64_t> ChunkLayers(const ModelConfig& config) {
  return LayersOf(config.attention, [](const LayerAttention& layer) { return layer.chunk > 0; });
}

// Returns layers as ranges: "0-2, 4".
std::string LayersText(const std::vector<int64_t>& layers) {
  std::string text;
  for (size_t i = 0; i < layers.size();) {
    size_t last = i;
    while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (last > i) text += fmt::format("-{}", layers[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int64_t> ExpertLayers(const ModelConfig& config) {
  return LayersOf(config.experts.layers, [](bool has) { return has; });
}

// Describes the experts of a model: "8 (width 14336), each token uses 2; in layers 0-31".
std::string ExpertsText(const ModelConfig& config) {
  const ExpertSettings& experts = config.experts;
  std::string text = fmt::format("{} (width {}), each token uses {}", experts.count, experts.width,
                                 experts.per_row);
  if (experts.shared_width > 0)
    text += fmt::format(" and a shared one (width {})", experts.shared_width);
  if (experts.beside_mlp) text += " beside the layer's MLP";
  return text + "; in layers " + LayersText(ExpertLayers(config));
}

Json ExpertsJson(const ModelConfig& config) {
  const ExpertSettings& experts = config.experts;
  if (experts.count == 0) return nullptr;
  return {{"count", experts.count},
          {"per_token", experts.per_row},
          {"width", experts.width},
          {"shared_width", CountOrNull(experts.shared_width)},
          {"layers", ExpertLayers(config)}};
}

Json MixerJson(const ModelConfig& config) {
  if (!config.HasMixers()) return nullptr;
  const DeltaRule& rule = config.delta_rule;
  const StateSpace& space = config.state_space;
  const MixerSizes sizes = config.Mixer();
  Json json = {{"kind", sizes.kind}, {"layers", MixerLayers(config)}, {"convolution", sizes.taps}};
  if (rule.used()) {
    json.update({{"key_heads", rule.key_heads},
                 {"value_heads", rule.value_heads},
                 {"key_dim", rule.key_dim},
                 {"value_dim", rule.value_dim}});
  } else if (space.used()) {
    json.update({{"key_heads", space.groups},
                 {"value_heads", space.heads},
                 {"key_dim", space.state_dim},
                 {"value_dim", space.head_dim}});
  }
  return json;
}

// Describes the mixers of layers: "in layers 0-2: a gated delta rule of 2 key heads and 4 value
// heads mixes their tokens".
std::string MixerText(const ModelConfig& config, const std::vector<int64_t>& layers) {
  const DeltaRule& rule = config.delta_rule;
  const StateSpace& space = config.state_space;
  std::string heads;
  if (rule.used()) {
    heads = fmt::format(" of {} key heads and {} value heads", rule.key_heads, rule.value_heads);
  } else if (space.used()) {
    heads = fmt::format(" of {} and {} states", CountText(space.heads, "head"), space.state_dim);
  } else {
    heads = fmt::format(" of {} tokens", config.convolution.taps);
  }
  return fmt::format("in layers {}: {}{} mixes their tokens", LayersText(layers),
                     config.Mixer().kind, heads);
}

std::string SharedKeysText(const ModelConfig& config) {
  const auto readers =
      LayersOf(config.attention, [](const LayerAttention& layer) { return layer.keys_of >= 0; });
  if (readers.empty()) return "";
  std::set<int64_t> lenders;
  for (const int64_t layer : readers) lenders.insert(config.AttentionOf(layer).keys_of);
  return fmt::format("layers {} read the keys and values of layers {}", LayersText(readers),
                     LayersText({lenders.begin(), lenders.end()}));
}

// Describes rotary positions: "500000, llama3 scaling by 8 of a context of 8192, ...".
std::string RopeText(const ModelConfig& config) {
  if (config.positions == PositionKind::kAlibi) {
    return fmt::format("none: ALiBi, slopes down to 2^-{:g}", config.alibi_max_bias);
  }
  if (config.positions == PositionKind::kLearned) {
    return fmt::format("none: learned positions, {} of them", config.trained_context);
  }
  if (config.positions == PositionKind::kSinusoidal) {
    return fmt::format("none: sinusoidal positions, trained with {}", config.trained_context);
  }
  if (config.positions == PositionKind::kNone) return "none: its attention has no positions";
  if (config.rope_base <= 0) return "not stated";
  std::string text = fmt::format("{}", config.rope_base);
  const RopeScaling& scaling = config.rope_scaling;
  if (scaling.kind == RopeScalingKind::kLongRope) {
    // GGUF files store also the scaling of llama3 as one factor per frequency.
    const bool one = scaling.short_factors == scaling.long_factors;
    text += one ? ", a factor for each frequency" : ", longrope factors by length";
  } else if (scaling.kind != RopeScalingKind::kNone) {
    text += fmt::format(", {} scaling by {:.4g}", ScalingName(scaling.kind), scaling.factor);
  }
  if (scaling.kind != RopeScalingKind::kNone && scaling.original_context > 0) {
    text += fmt::format(" (original context {:.0f})", scaling.original_context);
  }
  if (config.rope_dimensions != config.head_dim) {
    text += fmt::format(", {} of {} dimensions", config.rope_dimensions, config.head_dim);
  }
  if (config.turning_pairs > 0) {
    text += fmt::format(", p-RoPE: {} of {} pairs turn", config.turning_pairs,
                        config.rope_dimensions / 2);
  }
  if (const auto local = LocalLayers(config); !local.empty()) {
    text += fmt::format("; {} in layers {}", config.rope_local_base, LayersText(local));
  }
  return text;
}

Json RopeJson(const ModelConfig& config) {
  if (!IsRotary(config)) return nullptr;
  const RopeScaling& scaling = config.rope_scaling;
  Json json = {
      {"base", config.rope_base},
      {"dimensions", config.rope_dimensions},
      {"scaling", ScalingName(scaling.kind)},
      {"factor", scaling.kind == RopeScalingKind::kNone ? Json(nullptr) : Json(scaling.factor)},
      {"original_context", PositiveOrNull(scaling.original_context)}};
  if (scaling.kind == RopeScalingKind::kLlama3) {
    json["low_frequency_factor"] = scaling.low_frequency_factor;
    json["high_frequency_factor"] = scaling.high_frequency_factor;
  }
  if (scaling.kind == RopeScalingKind::kYarn) {
    json["beta_fast"] = scaling.beta_fast;
    json["beta_slow"] = scaling.beta_slow;
    json["truncate"] = scaling.truncate;
  }
  if (scaling.kind == RopeScalingKind::kYarn || scaling.kind == RopeScalingKind::kLongRope) {
    json["attention_factor"] = PositiveOrNull(scaling.attention_factor);
  }
  if (scaling.kind == RopeScalingKind::kLongRope) {
    json["short_factors"] = scaling.short_factors;
    json["long_factors"] = scaling.long_factors;
  }
  if (config.turning_pairs > 0) json["turning_pairs"] = config.turning_pairs;
  if (const auto local = LocalLayers(config); !local.empty()) {
    json["local_base"] = config.rope_local_base;
    json["local_layers"] = local;
  }
  json["layers_without_positions"] = NoPositionLayers(config);
  return json;
}

Json WindowJson(const ModelConfig& config) {
  const auto layers = WindowLayers(config);
  if (layers.empty()) return nullptr;
  return {{"tokens", Window(config)}, {"layers", layers}};
}

Json InterventionsJson(const std::vector<InterventionSupport>& interventions) {
  Json json = Json::array();
  for (const InterventionSupport& support : interventions) {
    Json entry = {{"term", support.term}, {"supported", support.supported}};
    if (!support.supported) entry["why_not"] = support.why_not;
    json.push_back(entry);
  }
  return json;
}

std::string InterventionsText(const std::vector<InterventionSupport>& interventions) {
  std::string text;
  std::string refused;
  for (const InterventionSupport& support : interventions) {
    if (support.supported) {
      text += (text.empty() ? "" : ", ") + support.term;
    } else {
      refused += fmt::format("\n{:<16}  not {}", "", support.why_not);
    }
  }
  return (text.empty() ? "none" : text) + refused;
}

// Describes chunked attention; "" if the model has none.
std::string ChunkText(const ModelConfig& config) {
  const std::vector<int64_t> layers = ChunkLayers(config);
  if (layers.empty()) return "";
  return fmt::format("{} tokens in layers {} (--sliding-window off takes them away)",
                     config.attention[static_cast<size_t>(layers[0])].chunk, LayersText(layers));
}

std::string WindowText(const ModelConfig& config) {
  const auto layers = WindowLayers(config);
  if (layers.empty()) return "none";
  const bool all = static_cast<int64_t>(layers.size()) == config.layers;
  return fmt::format("{} tokens in {} (--sliding-window off takes it away)", Window(config),
                     all ? "every layer" : "layers " + LayersText(layers));
}

std::string TokenizerText(const TokenizerFacts& tokenizer) {
  const auto id = [](const std::optional<int64_t>& token) {
    return token ? std::to_string(*token) : "none";
  };
  // A tokenizer.json contains both tokenizer model and pre-tokenizer.
  const bool one = tokenizer.model == tokenizer.pre_tokenizer;
  // Usually, the tokens that begin a text are only BOS.
  const bool several = tokenizer.begin_ids.size() > 1;
  return fmt::format("{}{}, {} tokens, BOS {} ({}), {}EOS {}", tokenizer.model,
                     one ? "" : ", pre-tokenizer " + tokenizer.pre_tokenizer, tokenizer.vocabulary,
                     id(tokenizer.bos_id), tokenizer.add_bos ? "added" : "not added",
                     several ? fmt::format("first {}, ", fmt::join(tokenizer.begin_ids, " ")) : "",
                     id(tokenizer.eos_id));
}

}  // namespace

std::vector<int64_t> UsualLengths(const ModelConfig& config) {
  std::vector<int64_t> lengths;
  for (const int64_t length : {int64_t{512}, int64_t{2048}, int64_t{8192}, int64_t{32768}}) {
    if (length < config.trained_context) lengths.push_back(length);
  }
  lengths.push_back(config.trained_context);
  return lengths;
}

std::string FactsJson(const ModelFacts& facts, const std::vector<int64_t>& lengths) {
  const ModelConfig& config = facts.config;
  Json json = {
      {"architecture", config.architecture},
      {"layers", CountOrNull(config.layers)},
      {"heads", CountOrNull(config.heads)},
      {"key_value_heads", CountOrNull(config.key_value_heads)},
      {"head_dim", CountOrNull(config.head_dim)},
      {"hidden", CountOrNull(config.hidden)},
      {"vocabulary", CountOrNull(config.vocabulary)},
      {"trained_context", CountOrNull(config.trained_context)},
      {"rope_base", IsRotary(config) ? Json(config.rope_base) : Json(nullptr)},
      {"rope_scaling",
       facts.supported ? Json(ScalingName(config.rope_scaling.kind)) : Json(nullptr)},
      {"quantisation", config.quantisation.empty() ? Json(nullptr) : Json(config.quantisation)},
      {"supported", facts.supported},
      {"name", config.name},
      {"file", facts.file},
      {"format", facts.format},
      {"file_bytes", CountOrNull(facts.file_bytes)},
      {"tensors", CountOrNull(facts.tensors)},
      {"feed_forward", CountOrNull(config.feed_forward)},
      {"parameters", CountOrNull(config.parameters)}};
  if (facts.supported) {
    const TokenizerFacts& tokenizer = facts.tokenizer;
    constexpr const char* kPositions[] = {"rotary", "alibi", "learned", "sinusoidal", "none"};
    json["positions"] = kPositions[static_cast<size_t>(config.positions)];
    json["rope"] = RopeJson(config);
    json["sliding_window"] = WindowJson(config);
    json["experts"] = ExpertsJson(config);
    json["mixer"] = MixerJson(config);
    json["tokenizer"] = {{"model", tokenizer.model},
                         {"pre_tokenizer", tokenizer.pre_tokenizer},
                         {"vocabulary", tokenizer.vocabulary},
                         {"bos_id", IdOrNull(tokenizer.bos_id)},
                         {"eos_id", IdOrNull(tokenizer.eos_id)},
                         {"begin_ids", tokenizer.begin_ids},
                         {"add_bos", tokenizer.add_bos}};
    json["chat_template"] = tokenizer.chat_template;
    json["notes"] = config.notes;
    json["interventions"] = InterventionsJson(facts.interventions);
    json["dtype_auto"] = DtypesJson(facts);
    json["memory"] = MemoryJson(config, lengths);
    json["devices"] = DevicesJson(facts.devices, config, lengths);
  } else {
    json["why_not_supported"] = facts.why_not;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string FactsText(const ModelFacts& facts, const std::vector<int64_t>& lengths) {
  const ModelConfig& config = facts.config;
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<16}  {}\n", name, value);
  };
  const auto number = [](int64_t value) {
    return value > 0 ? std::to_string(value) : "not stated";
  };
  add("file", facts.tensors == 0
                  ? fmt::format("{} ({})", facts.file, facts.format)
                  : fmt::format("{} ({}, {} MB, {} tensors)", facts.file, facts.format,
                                Megabytes(facts.file_bytes), facts.tensors));
  add("name", config.name.empty() ? "not stated" : DisplayText(config.name));
  add("architecture",
      config.architecture.empty() ? "not stated" : DisplayText(config.architecture));
  add("layers", number(config.layers));
  add("heads", fmt::format("{} (key-value heads: {})", number(config.heads),
                           number(config.key_value_heads)));
  std::string head_dim = number(config.head_dim);
  if (const auto others = OtherHeadLayers(config); !others.empty()) {
    head_dim +=
        fmt::format("; {} (key-value heads: {}) in layers {}", config.HeadDim(others.front()),
                    config.KeyValueHeads(others.front()), LayersText(others));
  }
  add("head_dim", head_dim);
  add("hidden",
      fmt::format("{} (feed-forward: {})", number(config.hidden), number(config.feed_forward)));
  add("vocabulary", number(config.vocabulary));
  add("trained_context",
      number(config.trained_context) + (config.trained_context > 0 ? " tokens" : ""));
  add("rope_base", RopeText(config));
  add("quantisation", config.quantisation.empty() ? "not stated" : config.quantisation);
  if (!facts.supported) {
    add("supported", "no");
    return text;
  }
  if (config.experts.count > 0) add("experts", ExpertsText(config));
  if (const auto layers = MixerLayers(config, /*attend=*/false); !layers.empty())
    add("no attention", MixerText(config, layers));
  if (const auto layers = MixerLayers(config, /*attend=*/true); !layers.empty())
    add("mixer", MixerText(config, layers) + " beside attention");
  if (const auto layers = LayersOfHalf(config, LayerHalves::kMlp); !layers.empty())
    add("MLP alone", "layers " + LayersText(layers) + "; the others have no MLP");
  if (const auto layers = NoPositionLayers(config); !layers.empty()) {
    add("no positions", "in layers " + LayersText(layers));
  }
  add("sliding_window", WindowText(config));
  if (const std::string chunks = ChunkText(config); !chunks.empty())
    add("attention_chunks", chunks);
  if (config.attention_sinks) add("attention_sinks", "one learned logit for each head");
  if (const std::string shared = SharedKeysText(config); !shared.empty())
    add("shared_keys", shared);
  if (config.layer_input_width > 0)
    add("layer_embeddings", fmt::format("{} elements for each layer", config.layer_input_width));
  add("parameters", fmt::format("{:.1f} million", static_cast<double>(config.parameters) / 1e6));
  add("tokenizer", TokenizerText(facts.tokenizer));
  add("chat_template", facts.tokenizer.chat_template ? "yes" : "no");
  add("supported", "yes");
  for (const std::string& note : config.notes) add("note", note);
  add("interventions", InterventionsText(facts.interventions));
  add("dtype auto", DtypesText(facts));
  return text + MemoryText(config, lengths) + DevicesText(facts.devices, config, lengths);
}

}  // namespace midscope::cli

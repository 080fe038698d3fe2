// SPDX-License-Identifier: MIT
#include "core/compute/weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {
namespace {

class Loader {
 public:
  Loader(const ModelSource& source, const WeightOptions& options, const kernels::Executor& executor,
         const JobContext& context)
      : source_(source),
        config_(source.config()),
        options_(options),
        executor_(executor),
        context_(context) {}

  Weights Load() {
    Weights weights;
    weights.embedding = Embedding("token_embedding", "embedding_in");
    weights.positions = Positions([this](const Part& part) { return ReadByRow(part).weight; });
    if (config_.embedding_norm) weights.embedding_norm = ReadNorm("embedding_norm");
    const char* output = config_.tied_embeddings ? "token_embedding" : "output";
    if (config_.embedding_width > 0) {
      weights.output.weight = Embedding(output, "embedding_out");
    } else if (config_.tied_embeddings) {
      weights.output.weight = weights.embedding;
    } else {
      weights.output = ReadByRow({"output", config_.vocabulary});
    }
    if (config_.final_norm) weights.final_norm = ReadNorm("final_norm");
    if (config_.layer_input_width > 0) LoadLayerInputs(&weights);
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      context_.Report({"load weights", layer, config_.layers, "layers"});
      weights.layers.push_back(Layer(layer));
    }
    return weights;
  }

  Weights LoadFirst() {
    Weights weights;
    weights.embedding = config_.embedding_width > 0
                            ? Embedding("token_embedding", "embedding_in")
                            : Stored(config_.hidden, {{"token_embedding", config_.vocabulary}});
    weights.positions =
        Positions([this](const Part& part) { return Stored(config_.hidden, {part}); });
    if (config_.embedding_norm) weights.embedding_norm = ReadNorm("embedding_norm");
    if (config_.layer_input_width > 0) LoadLayerInputs(&weights);
    weights.layers.push_back(Layer(0));
    return weights;
  }

 private:
  struct Part {
    std::string name;
    int64_t outputs;
  };

  // The table of layer inputs stays in the file, because only rows of it are read.
  void LoadLayerInputs(Weights* weights) {
    const int64_t width = config_.layer_input_width;
    weights->layer_embedding =
        Stored(config_.layers * width, {{"layer_embedding", config_.vocabulary}});
    weights->layer_projection =
        Stack(config_.hidden, {{"layer_projection", config_.layers * width}});
    weights->layer_projection_norm = NormWeight("layer_projection_norm", width);
  }

  // Loads a matrix that is multiplied with few rows and read row by row. If other matrices are
  // packed, this one is not expanded if it is quantised.
  Projection ReadByRow(const Part& part) {
    const bool packed = options_.expansion == Expansion::kPacked;
    return Stack(config_.hidden, {part}, packed ? &WeightMatrix::CopyOrExpand : OfLayers());
  }

  // Returns the matrix [vocabulary, hidden]. Rows with fewer columns are multiplied by the
  // projection `through` ([hidden, embedding_width] or its transpose).
  WeightMatrix Embedding(const char* name, const char* through) {
    if (config_.embedding_width == 0) return ReadByRow({name, config_.vocabulary}).weight;
    const bool enters = std::string_view(through) == "embedding_in";
    const at::Tensor rows = Floats(name, config_.vocabulary, config_.embedding_width);
    const at::Tensor projection = enters
                                      ? Floats(through, config_.hidden, config_.embedding_width).t()
                                      : Floats(through, config_.embedding_width, config_.hidden);
    return {at::matmul(rows, projection), options_.dtype};
  }

  at::Tensor Floats(const std::string& name, int64_t rows, int64_t columns) const {
    const TensorRef& tensor = Require(name, rows, columns);
    WeightMatrix matrix(source_.path(), {{tensor.NameOr(name), &tensor}}, kernels::Dtype::kFloat32);
    matrix.Expand(executor_);
    return matrix.expanded();
  }

  // Loads position embeddings. `table`: a function that makes the matrix of a part.
  template <class Table>
  PositionEmbeddings Positions(Table table) {
    const int64_t offset = config_.position_offset;
    switch (config_.positions) {
      case PositionKind::kLearned:
        return {table(Part{"position_embedding", offset + config_.trained_context}), offset};
      case PositionKind::kSinusoidal:
        return {config_.hidden, offset, options_.dtype};
      default:
        return {};
    }
  }

  LayerWeights Layer(int64_t layer) {
    context_.ThrowIfCancelled();
    const std::string prefix = std::to_string(layer) + ".";
    const LayerAttention attention = config_.AttentionOf(layer);
    const int64_t head_dim = config_.HeadDim(layer);
    const int64_t q_width = config_.QueryWidth(layer);
    const int64_t kv_width = config_.KeyWidth(layer);
    LayerWeights weights;
    const bool own_keys = attention.keys_of < 0;
    if (attention.has_mixer()) weights.mixer = Mixer(prefix);
    if (!attention.attends()) {
      // Attention weights are not loaded: the layer has no attention.
    } else if (config_.latent.used()) {
      weights.latent = Latent(prefix);
    } else if (!own_keys) {
      weights.query_key_value = Stack(config_.hidden, {{prefix + "query", q_width}});
    } else {
      weights.query_key_value =
          Stack(config_.hidden, {{prefix + "query", q_width},
                                 {prefix + "key", kv_width},
                                 {prefix + (attention.value_is_key ? "key" : "value"), kv_width}});
    }
    const int64_t outputs = config_.latent.used() ? config_.heads * config_.latent.value : q_width;
    if (attention.attends())
      weights.attention_out = Stack(outputs, {{prefix + "attention_out", config_.hidden}});
    if (config_.gated_attention && attention.attends())
      weights.attention_gate = Stack(config_.hidden, {{prefix + "attention_gate", q_width}});
    if (config_.experts.In(layer)) {
      weights.experts = Experts(prefix);
    }
    if (config_.HasMlp(layer) && (!config_.experts.In(layer) || config_.experts.beside_mlp)) {
      weights.mlp = Mlp(prefix, config_.FeedForward(layer));
    }
    if (const int64_t width = config_.layer_input_width; width > 0) {
      weights.layer_input_gate = Stack(config_.hidden, {{prefix + "layer_input_gate", width}});
      weights.layer_input_out = Stack(width, {{prefix + "layer_input_out", config_.hidden}});
      weights.layer_input_norm = ReadNorm(prefix + "layer_input_norm");
    }
    if (config_.layer_scale) weights.layer_scale = Vector(prefix + "layer_scale", 1)[0];
    if (config_.value_norm) weights.value_norm.assign(static_cast<size_t>(head_dim), 1.0f);
    if (config_.attention_sinks) weights.sinks = Vector(prefix + "sinks", config_.heads);
    if (config_.activation == Activation::kXielu) weights.xielu = Xielu(layer);
    if (config_.input_norms || config_.stream_norms) {
      if (config_.MixesRows(layer)) weights.attention_norm = ReadNorm(prefix + "attention_norm");
      if (config_.HasMlp(layer) && !config_.shared_norm)
        weights.mlp_norm = ReadNorm(prefix + "mlp_norm");
    }
    if (config_.output_norms) {
      weights.attention_output_norm = ReadNorm(prefix + "attention_output_norm");
      weights.mlp_output_norm = ReadNorm(prefix + "mlp_output_norm");
    }
    if (!attention.attends()) return weights;
    if (config_.plain_query_key_norm) {
      if (attention.rotary) weights.query_norm.assign(static_cast<size_t>(head_dim), 1.0f);
      weights.key_norm = weights.query_norm;
    } else if (config_.query_key_norm != QueryKeyNorm::kNone) {
      const bool by_head = config_.query_key_norm == QueryKeyNorm::kHead;
      weights.query_norm = NormWeight(prefix + "query_norm", by_head ? head_dim : q_width);
      if (own_keys)
        weights.key_norm = NormWeight(prefix + "key_norm", by_head ? head_dim : kv_width);
      if (config_.norm_after_rotation) SetNormsAfterRotation(&weights);
    }
    return weights;
  }

  MixerWeights Mixer(const std::string& prefix) {
    const DeltaRule& rule = config_.delta_rule;
    const StateSpace& space = config_.state_space;
    const MixerSizes sizes = config_.Mixer();
    const std::string own = prefix + "mixer_";
    MixerWeights weights;
    std::vector<Part> inputs = {{own + "in", 3 * config_.hidden}};
    if (space.used()) inputs.front().outputs = space.width() + space.mixed_width() + space.heads;
    if (rule.used()) {
      inputs = {{own + "mixed", rule.mixed_width()},
                {own + "gate", rule.value_width()},
                {own + "rate", rule.value_heads},
                {own + "decay", rule.value_heads}};
    }
    weights.input = Stack(config_.hidden, inputs);
    if (const int64_t heads = rule.used() ? rule.value_heads : space.heads; heads > 0) {
      weights.decay_bias = at::tensor(Vector(own + "decay_bias", heads));
      weights.decay_scale = at::tensor(Vector(own + "decay_scale", heads));
      if (rule.log_decays || space.log_decays) weights.decay_scale.exp_().neg_();
    }
    if (rule.used() || (space.used() && space.norm != GatedNorm::kNone))
      weights.norm = at::tensor(Vector(own + "norm", rule.used() ? rule.value_dim : space.width()));
    if (space.used()) {
      weights.skip = at::tensor(Vector(own + "skip", space.heads));
      weights.input_scale = ProjectionScales(space);
    }
    weights.taps = Floats(own + "taps", sizes.channels, sizes.taps).t().contiguous();
    if (source_.Find(own + "taps.bias") != nullptr)
      weights.taps_bias = at::tensor(Vector(own + "taps.bias", sizes.channels));
    weights.out = Stack(sizes.outputs, {{own + "out", config_.hidden}});
    return weights;
  }

  LatentWeights Latent(const std::string& prefix) {
    const LatentAttention& latent = config_.latent;
    const int64_t heads = config_.heads;
    const int64_t rotated = config_.rope_dimensions;
    LatentWeights weights;
    if (latent.query_rank > 0) {
      weights.query_in = Stack(config_.hidden, {{prefix + "query_in", latent.query_rank}});
      weights.query_in_norm.weight = NormWeight(prefix + "query_in_norm", latent.query_rank);
    }
    weights.query = Stack(latent.query_rank > 0 ? latent.query_rank : config_.hidden,
                          {{prefix + "query", heads * (latent.plain + rotated)}});
    weights.key = Stack(config_.hidden, {{prefix + "latent", latent.rank + rotated}});
    weights.key_norm.weight = NormWeight(prefix + "latent_norm", latent.rank);
    if (latent.split) {
      const at::Tensor keys = Floats(prefix + "latent_key_out", heads * latent.rank, latent.plain)
                                  .view({heads, latent.rank, latent.plain});
      weights.key_out.weight = WeightMatrix(
          keys.transpose(1, 2).reshape({heads * latent.plain, latent.rank}), options_.dtype);
      weights.value_out.weight = WeightMatrix(
          Floats(prefix + "latent_value_out", heads * latent.value, latent.rank), options_.dtype);
      return weights;
    }
    const int64_t outputs = latent.plain + latent.value;
    const at::Tensor expand = Floats(prefix + "latent_out", heads * outputs, latent.rank)
                                  .view({heads, outputs, latent.rank});
    const auto part = [&](int64_t first, int64_t count) {
      return WeightMatrix(expand.narrow(1, first, count).reshape({heads * count, latent.rank}),
                          options_.dtype);
    };
    weights.key_out.weight = part(0, latent.plain);
    weights.value_out.weight = part(latent.plain, latent.value);
    return weights;
  }

  static void SetNormsAfterRotation(LayerWeights* weights) {
    const std::vector<float> ones(weights->query_norm.size(), 1.0f);
    weights->rotated_query_norm = std::exchange(weights->query_norm, ones);
    weights->rotated_key_norm = std::exchange(weights->key_norm, ones);
    weights->rotated_norms = weights->rotated_query_norm;
    for (size_t i = 0; i < ones.size(); ++i)
      weights->rotated_norms[i] *= weights->rotated_key_norm[i];
  }

  XieluSettings Xielu(int64_t layer) const {
    if (!config_.xielu.empty()) return config_.xielu[static_cast<size_t>(layer)];
    const auto number = [&](const char* name) {
      return double{Vector(std::to_string(layer) + "." + name, 1)[0]};
    };
    return {number("alpha_positive"), number("alpha_negative"), number("beta"), number("epsilon")};
  }

  MlpWeights Mlp(const std::string& prefix, int64_t width) {
    std::vector<Part> parts = {{prefix + "up", width}};
    if (config_.gated_mlp) parts.insert(parts.begin(), {prefix + "gate", width});
    return {Stack(config_.hidden, parts), Stack(width, {{prefix + "down", config_.hidden}})};
  }

  ExpertWeights Experts(const std::string& prefix) {
    const ExpertSettings& settings = config_.experts;
    ExpertWeights weights;
    weights.router = Stack(config_.hidden, {{prefix + "router", settings.count}});
    if (settings.choice_bias) weights.choice_bias = Vector(prefix + "choice_bias", settings.count);
    for (int64_t expert = 0; expert < settings.count; ++expert) {
      context_.ThrowIfCancelled();
      weights.experts.push_back(
          Mlp(prefix + "experts." + std::to_string(expert) + ".", settings.width));
    }
    if (settings.beside_mlp) {
      weights.scale = Vector(prefix + "expert_scale", settings.count);
      weights.router_norm = ReadNorm(prefix + "router_norm");
      for (float& weight : weights.router_norm.weight)
        weight /= std::sqrt(static_cast<float>(config_.hidden));
      weights.input_norm = ReadNorm(prefix + "expert_norm");
      weights.output_norm = ReadNorm(prefix + "expert_output_norm");
      weights.mlp_norm = ReadNorm(prefix + "mlp_inner_norm");
    }
    if (settings.shared_width > 0) weights.shared = Mlp(prefix + "shared.", settings.shared_width);
    if (settings.shared_gate)
      weights.shared_gate = Stack(config_.hidden, {{prefix + "shared_gate", 1}});
    return weights;
  }

  // Stacks projections of the same input, and copies them to memory by the member function `own`,
  // unless they stay in the file. If only some parts have a bias, the others get zeros.
  Projection Stack(int64_t inputs, const std::vector<Part>& parts) {
    return Stack(inputs, parts, OfLayers());
  }

  using Own = void (WeightMatrix::*)(const kernels::Executor&);
  Own OfLayers() const {
    switch (options_.expansion) {
      case Expansion::kAlone:
        return &WeightMatrix::Expand;
      case Expansion::kBesideBlocks:
        return &WeightMatrix::ExpandBesideBlocks;
      case Expansion::kPacked:
        return &WeightMatrix::Pack;
    }
    return &WeightMatrix::Expand;
  }

  Projection Stack(int64_t inputs, const std::vector<Part>& parts, Own own) {
    int64_t outputs = 0;
    for (const Part& part : parts) outputs += part.outputs;
    Projection projection;
    projection.weight = Stored(inputs, parts);
    if (options_.storage == WeightStorage::kExpanded) {
      (projection.weight.*own)(executor_);
      for (const Part& part : parts) source_.DontNeed(*source_.Find(part.name));
    }
    int64_t first = 0;
    for (const Part& part : parts) {
      if (source_.Find(part.name + ".bias") != nullptr) {
        projection.bias.resize(static_cast<size_t>(outputs));
        const std::vector<float> bias = Vector(part.name + ".bias", part.outputs);
        std::copy(bias.begin(), bias.end(), projection.bias.begin() + first);
      }
      first += part.outputs;
    }
    return projection;
  }

  WeightMatrix Stored(int64_t inputs, const std::vector<Part>& parts) const {
    std::vector<WeightMatrix::Part> tensors;
    tensors.reserve(parts.size());
    for (const Part& part : parts) {
      const TensorRef& tensor = Require(part.name, part.outputs, inputs);
      tensors.push_back({tensor.NameOr(part.name), &tensor});
    }
    return {source_.path(), tensors, options_.dtype, options_.products};
  }

  // Returns the file's tensor called `name`. Throws Error unless it exists with this shape, which
  // limits how much of it is read.
  const TensorRef& Require(const std::string& name, int64_t rows, int64_t columns) const {
    const TensorRef* tensor = source_.Find(name);
    if (tensor == nullptr) {
      throw Failure(source_.path(), "tensor " + name + " is missing",
                    "The file is not whole, or of a variant that is not supported yet");
    }
    if (tensor->rows != rows || tensor->columns != columns) {
      const auto shape = [](int64_t r, int64_t c) {
        return "[" + std::to_string(r) + ", " + std::to_string(c) + "]";
      };
      throw Failure(source_.path(),
                    "tensor " + name + " has shape " + shape(tensor->rows, tensor->columns) +
                        "; the model needs " + shape(rows, columns),
                    "The file is damaged or made by a faulty converter");
    }
    return *tensor;
  }

  std::vector<float> Vector(const std::string& name, int64_t width) const {
    const TensorRef& tensor = Require(name, 1, width);
    std::vector<float> values(static_cast<size_t>(width));
    kernels::Dequantise(tensor.format.type, tensor.Row(0), width, values.data());
    for (const float value : values) {
      if (!std::isfinite(value)) throw NotFinite(source_.path(), tensor.NameOr(name));
    }
    return values;
  }

  std::vector<float> NormWeight(const std::string& name, int64_t width) const {
    std::vector<float> weight = Vector(name, width);
    if (config_.norm_adds_one) {
      for (float& value : weight) value += 1.0f;
    }
    return weight;
  }

  Norm ReadNorm(const std::string& name) const {
    if (!config_.norm_weights)
      return {std::vector<float>(static_cast<size_t>(config_.hidden), 1.0f), {}};
    Norm norm{NormWeight(name, config_.hidden), {}};
    const bool biased = config_.norm == NormKind::kLayer && source_.Find(name + ".bias") != nullptr;
    if (biased) norm.bias = Vector(name + ".bias", config_.hidden);
    return norm;
  }

  const ModelSource& source_;
  const ModelConfig& config_;
  const WeightOptions options_;
  const kernels::Executor& executor_;
  const JobContext& context_;
};

}  // namespace

at::Tensor ProjectionScales(const StateSpace& space) {
  if (space.scales == StateSpace().scales) return {};
  const std::array<int64_t, 5> widths = {space.width(), space.width(), space.group_width(),
                                         space.group_width(), space.heads};
  std::vector<at::Tensor> parts;
  parts.reserve(widths.size());
  for (size_t part = 0; part < widths.size(); ++part)
    parts.push_back(at::full({widths[part]}, space.scales[part], at::kFloat));
  return at::cat(parts);
}

bool HasWholeNumberProducts(LayerWeights& layer) {
  bool any = false;
  layer.VisitProjections([&any](const Projection& projection) {
    any = any || projection.weight.HasWholeNumberProducts();
  });
  return any;
}

WeightOptions Resolved(WeightOptions requested, const ModelConfig& config,
                       const Placement& placement) {
  requested.storage =
      ResolveStorage(requested.storage, config, requested.dtype, requested.products);
  const bool packed = placement.IsPlainCpu() && PacksExpanded(config, requested.dtype);
  requested.expansion = packed                            ? Expansion::kPacked
                        : placement.Has(DeviceKind::kCpu) ? Expansion::kBesideBlocks
                                                          : Expansion::kAlone;
  return requested;
}

Weights LoadWeights(const ModelSource& source, const WeightOptions& options,
                    const kernels::Executor& executor, const JobContext& context) {
  return Loader(source, options, executor, context).Load();
}

Weights LoadFirstLayer(const ModelSource& source, const WeightOptions& options,
                       const kernels::Executor& executor, const JobContext& context) {
  return Loader(source, options, executor, context).LoadFirst();
}

}  // namespace midscope

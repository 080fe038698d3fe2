// SPDX-License-Identifier: MIT
#include "core/tuning/differentiable_model.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/compute/aten_ops.h"
#include "core/compute/weight_matrix.h"
#include "core/decoder/mlp.h"
#include "core/tuning/checkpointing.h"
#include "core/tuning/token_mixers.h"
#include "kernels/check.h"
#include "kernels/types.h"

namespace midscope {

namespace {

// Rows whose logits, and gradients of logits, a loss has in memory at a time: enough for the
// product with the output matrix to take little time for reading it.
constexpr int64_t kLogitRows = 128;

// Throws Cancelled if the flag is set: within the forward pass, and as a hook within the backward
// pass.
struct CancelCheck {
  const std::atomic<bool>* cancel;  // may be null

  void operator()() const {
    if (cancel != nullptr && *cancel) throw Cancelled();
  }
  void operator()(const at::Tensor&) const { (*this)(); }
};

// Throws Error for a model that the pass below does not follow.
void CheckCovered(const ModelConfig& config) {
  if (config.positions != PositionKind::kRotary && config.positions != PositionKind::kNone) {
    throw Failure(
        "model " + config.architecture,
        std::string("gradients need rotary positions, but ") + UnrotatedText(config.positions),
        "Use a model with rotary positions");
  }
  if (config.stream_norms || config.embedding_width > 0) {
    throw Failure("model " + config.architecture,
                  "gradients do not support norms of the stream or projected embeddings");
  }
}

// x [..., width], weight and bias: broadcast to x, or undefined.
at::Tensor Normed(NormKind kind, double epsilon, const at::Tensor& x, const at::Tensor& weight,
                  const at::Tensor& bias) {
  at::Tensor values = x.to(at::kFloat);
  if (kind == NormKind::kLayer) values = values - values.mean(-1, /*keepdim=*/true);
  values = values * at::rsqrt(values.square().mean(-1, /*keepdim=*/true) + epsilon);
  if (weight.defined()) values = values * weight;
  if (bias.defined()) values = values + bias;
  return values.to(x.scalar_type());
}

// Rotates the first elements of each head of x [token, head, width]: pair p is elements p and p +
// pairs.
at::Tensor Rotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  if (!cos.defined()) return x;
  const int64_t pairs = cos.size(-1);
  const at::Tensor values = x.to(at::kFloat);
  const at::Tensor a = values.narrow(-1, 0, pairs);
  const at::Tensor b = values.narrow(-1, pairs, pairs);
  const at::Tensor rest = values.narrow(-1, 2 * pairs, x.size(-1) - 2 * pairs);
  return at::cat({a * cos - b * sin, b * cos + a * sin, rest}, -1).to(x.scalar_type());
}

at::Tensor Scaled(const at::Tensor& x, double factor) { return factor == 1.0 ? x : x * factor; }

at::Tensor SoftCapped(const at::Tensor& x, double cap) {
  return cap == 0 ? x : at::tanh(x / cap) * cap;
}

at::Tensor ClampedSwigluOf(const ClampedSwiglu& settings, const at::Tensor& gate,
                           const at::Tensor& up) {
  const at::Tensor g = gate.clamp_max(settings.limit);
  return (up.clamp(-settings.limit, settings.limit) + 1) * g * at::sigmoid(g * settings.gain);
}

}  // namespace

DifferentiableModel::DifferentiableModel(const ModelSource& source,
                                         const DifferentiableOptions& options,
                                         const JobContext& context)
    : config_(source.config()), options_(options) {
  CheckCovered(config_);
  weights_ = LoadTrainableWeights(source, options.dtype, options.device, context);
}

at::Tensor DifferentiableModel::FinalStream(std::span<const int32_t> ids,
                                            std::span<const AttentionPlan> plans,
                                            const PassOptions& pass) const {
  const auto tokens = static_cast<int64_t>(ids.size());
  const at::Tensor rows =
      at::tensor(std::vector<int64_t>(ids.begin(), ids.end())).to(options_.device);
  at::Tensor stream = at::embedding(Weight("token_embedding"), rows);
  if (config_.embedding_scale != 1.0) {
    stream =
        stream * kernels::RoundedTo(options_.dtype, static_cast<float>(config_.embedding_scale));
  }
  if (config_.embedding_norm) stream = Norm("embedding_norm", stream);
  const at::Tensor layer_inputs =
      config_.layer_input_width > 0 ? LayerInputs(rows, stream) : at::Tensor();
  LentKeys lent;
  const CancelCheck check{options_.cancel};
  for (int64_t index = 0; index < config_.layers; ++index) {
    const LayerTensors layer(config_, index, plans[static_cast<size_t>(index)], tokens,
                             options_.device);
    BlockContext parts{pass.heads, {}, &lent};
    std::vector<at::Tensor> parameters = ParametersOf(layer.prefix);
    if (layer_inputs.defined()) {
      parts.layer_input = layer_inputs.select(1, index);
      if (parts.layer_input.requires_grad()) parameters.push_back(parts.layer_input);
    }
    const auto block = [this, layer, check, parts](const at::Tensor& x) {
      check();
      return Block(layer, x, parts);
    };
    if (pass.stream) stream = pass.stream(index, stream);
    // Gradients of keys that later layers read do not go through a checkpoint.
    const bool checkpoint = options_.checkpoints && index < config_.FirstLentLayer();
    stream = checkpoint ? Checkpointed(block, stream, parameters) : block(stream);
    if (stream.requires_grad()) stream.register_hook(check);
  }
  return stream;
}

at::Tensor DifferentiableModel::Logits(std::span<const int32_t> ids,
                                       std::span<const AttentionPlan> plans,
                                       const PassOptions& pass) const {
  const at::Tensor stream = FinalStream(ids, plans, pass);
  return LogitsOf(stream.narrow(0, pass.first_logit_row, stream.size(0) - pass.first_logit_row));
}

at::Tensor DifferentiableModel::LogitsOf(const at::Tensor& stream) const {
  const at::Tensor normed = config_.final_norm ? Norm("final_norm", stream) : stream;
  // With a large vocabulary, the products before and after the logits take as long as some layers.
  const CancelCheck check{options_.cancel};
  check();
  at::Tensor logits = config_.tied_embeddings ? at::linear(normed, Weight("token_embedding"))
                                              : Linear("output", normed);
  check();
  if (logits.requires_grad()) logits.register_hook(check);
  logits = logits.to(at::kFloat);
  if (config_.output_scale != 1) logits = logits * config_.output_scale;
  return SoftCapped(logits, config_.final_softcap);
}

at::Tensor DifferentiableModel::NextTokenLoss(std::span<const int32_t> ids,
                                              std::span<const AttentionPlan> plans,
                                              std::span<const uint8_t> in_loss) const {
  std::vector<int64_t> rows;
  std::vector<int64_t> next;
  for (size_t i = 1; i < ids.size(); ++i) {
    if (!in_loss.empty() && in_loss[i] == 0) continue;
    rows.push_back(static_cast<int64_t>(i) - 1);
    next.push_back(ids[i]);
  }
  const at::Tensor stream = FinalStream(ids, plans);
  if (rows.empty()) return (stream * 0).sum().to(at::kFloat);
  const at::Tensor targets = at::tensor(next).to(stream.device());
  const auto loss_of = [&](const at::Tensor& x, int64_t first) {
    return at::cross_entropy_loss(LogitsOf(x), targets.narrow(0, first, x.size(0)), {},
                                  at::Reduction::Sum);
  };
  std::vector<at::Tensor> parameters;
  for (const char* name : {"final_norm", "output", "token_embedding"}) {
    const std::vector<at::Tensor> named = ParametersOf(name);
    parameters.insert(parameters.end(), named.begin(), named.end());
  }
  return SumOfParts(loss_of, stream.index_select(0, at::tensor(rows).to(stream.device())),
                    kLogitRows, parameters) /
         static_cast<double>(rows.size());
}

at::Tensor DifferentiableModel::LayerInputs(const at::Tensor& rows,
                                            const at::Tensor& embedded) const {
  const auto width = static_cast<double>(config_.layer_input_width);
  const auto by_layer = [&](const at::Tensor& x) {
    return x.unflatten(1, {config_.layers, config_.layer_input_width});
  };
  const at::Tensor usual = by_layer(Linear("layer_projection", embedded) /
                                    std::sqrt(static_cast<double>(config_.hidden)));
  const at::Tensor of_layers =
      at::embedding(Weight("layer_embedding"), rows) *
      kernels::RoundedTo(options_.dtype, static_cast<float>(std::sqrt(width)));
  const at::Tensor normed =
      Normed(NormKind::kRms, config_.norm_epsilon, usual, NormWeight("layer_projection_norm"), {});
  return (normed + by_layer(of_layers)) * std::sqrt(0.5);
}

at::Tensor DifferentiableModel::Block(const LayerTensors& layer, const at::Tensor& stream,
                                      const BlockContext& context) const {
  const std::string& prefix = layer.prefix;
  const auto finished = [&](const std::string& norm, const at::Tensor& update) {
    return Scaled(config_.output_norms ? Norm(norm, update) : update, config_.update_scale);
  };
  at::Tensor middle = stream;
  if (config_.MixesRows(layer.index)) {
    const at::Tensor input = config_.input_norms ? Norm(prefix + "attention_norm", stream) : stream;
    middle =
        stream + finished(prefix + "attention_output_norm", MixedUpdate(layer, input, context));
  }
  if (!config_.HasMlp(layer.index)) return middle;

  const at::Tensor& mlp_stream = config_.parallel_residual ? stream : middle;
  const std::string mlp_norm = prefix + (config_.shared_norm ? "attention_norm" : "mlp_norm");
  const at::Tensor mlp_input = config_.input_norms ? Norm(mlp_norm, mlp_stream) : mlp_stream;
  at::Tensor update;
  if (config_.experts.In(layer.index) && config_.experts.beside_mlp) {
    update = Norm(prefix + "mlp_inner_norm", Mlp(prefix, mlp_input)) +
             Norm(prefix + "expert_output_norm", Experts(prefix, mlp_stream));
  } else {
    update = config_.experts.In(layer.index) ? Experts(prefix, mlp_input) : Mlp(prefix, mlp_input);
  }
  at::Tensor out = middle + finished(prefix + "mlp_output_norm", Scaled(update, config_.mlp_scale));
  if (context.layer_input.defined()) {
    const at::Tensor gate =
        ActivatedByAten(config_.activation, Linear(prefix + "layer_input_gate", out));
    out = out + Norm(prefix + "layer_input_norm",
                     Linear(prefix + "layer_input_out", gate * context.layer_input));
  }
  return config_.layer_scale ? out * Weight(prefix + "layer_scale") : out;
}

at::Tensor DifferentiableModel::MixedUpdate(const LayerTensors& layer, const at::Tensor& x,
                                            const BlockContext& context) const {
  at::Tensor update;
  if (config_.HasAttention(layer.index))
    update = Scaled(Attention(layer, x, context), config_.attention_scale);
  if (!config_.HasMixer(layer.index)) return update;
  const at::Tensor of_mixer = Scaled(Mixed(layer.prefix, x), config_.mixer_scale);
  return update.defined() ? update + of_mixer : of_mixer;
}

at::Tensor DifferentiableModel::Attention(const LayerTensors& layer, const at::Tensor& x,
                                          const BlockContext& context) const {
  auto [q, k, v] =
      config_.latent.used() ? LatentProjections(layer, x) : Projections(layer, x, context.lent);
  if (layer.query_scale.defined()) q = (q.to(at::kFloat) * layer.query_scale).to(q.scalar_type());
  at::Tensor z;
  if (layer.softcap == 0 && !config_.attention_sinks) {
    const std::optional<at::Tensor> mask =
        layer.visible.defined() ? std::optional(layer.visible) : std::nullopt;
    z = at::scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), mask,
                                         /*dropout_p=*/0.0, /*is_causal=*/!mask.has_value(),
                                         layer.logit_scale, /*enable_gqa=*/k.size(0) != q.size(0))
            .squeeze(0);
  } else {
    const int64_t sharing = q.size(0) / k.size(0);
    k = k.repeat_interleave(sharing, 0);
    v = v.repeat_interleave(sharing, 0);
    at::Tensor logits = at::matmul(q, k.transpose(1, 2)).to(at::kFloat) * layer.logit_scale;
    logits = SoftCapped(logits, layer.softcap)
                 .masked_fill(~layer.visible, -std::numeric_limits<float>::infinity());
    const at::Tensor sinks = Weight(layer.prefix + "sinks");
    if (sinks.defined()) {
      const at::Tensor column = sinks.to(at::kFloat).view({-1, 1, 1});
      logits = at::cat({logits, column.expand({-1, q.size(1), 1})}, -1);
    }
    const at::Tensor pattern = at::softmax(logits, -1).narrow(-1, 0, k.size(1));
    z = at::matmul(pattern.to(v.scalar_type()), v);
  }
  if (config_.gated_attention) {
    const at::Tensor gate = Linear(layer.prefix + "attention_gate", x);
    z = z * at::sigmoid(gate.unflatten(1, {config_.heads, -1}).transpose(0, 1));
  }
  if (context.heads) z = context.heads(layer.index, z);
  return Linear(layer.prefix + "attention_out", z.transpose(0, 1).flatten(1));
}

at::Tensor DifferentiableModel::Mixed(const std::string& prefix, const at::Tensor& x) const {
  const std::string own = prefix + "mixer_";
  const MixerTensors tensors{
      [&](const std::string& name) { return Weight(own + name); },
      [&](const std::string& name, const at::Tensor& in) { return Linear(own + name, in); }};
  return MixTokens(config_, tensors, x);
}

bool DifferentiableModel::NormsHeads(const LayerTensors& layer) const {
  return config_.plain_query_key_norm ? config_.attention[static_cast<size_t>(layer.index)].rotary
                                      : config_.query_key_norm != QueryKeyNorm::kNone;
}

at::Tensor DifferentiableModel::HeadsOf(const LayerTensors& layer, const std::string& name,
                                        int64_t heads, const at::Tensor& x) const {
  const bool is_normed = NormsHeads(layer);
  const double limit = config_.clip_qkv;
  const std::string norm = layer.prefix + name + "_norm";
  at::Tensor y = Linear(layer.prefix + name, x).unflatten(1, {heads, config_.HeadDim(layer.index)});
  if (limit > 0 && !(is_normed && config_.clip_after_norm)) y = y.clamp(-limit, limit);
  if (is_normed && !config_.norm_after_rotation) y = HeadNorm(norm, y);
  if (limit > 0 && is_normed && config_.clip_after_norm) y = y.clamp(-limit, limit);
  return y;
}

at::Tensor DifferentiableModel::Turned(const LayerTensors& layer, const std::string& name,
                                       const at::Tensor& heads) const {
  const at::Tensor y = Rotated(heads, layer.cos, layer.sin);
  const bool norms = NormsHeads(layer) && config_.norm_after_rotation;
  return norms ? HeadNorm(layer.prefix + name + "_norm", y) : y;
}

DifferentiableModel::QueryKeyValue DifferentiableModel::Projections(const LayerTensors& layer,
                                                                    const at::Tensor& x,
                                                                    LentKeys* lent) const {
  const double limit = config_.clip_qkv;
  const int64_t key_heads = config_.KeyValueHeads(layer.index);
  const LayerAttention attention = config_.AttentionOf(layer.index);
  at::Tensor k;
  at::Tensor v;
  if (attention.keys_of >= 0) {
    std::tie(k, v) = lent->at(attention.keys_of);
  } else {
    k = HeadsOf(layer, "key", key_heads, x);
    v = Linear(layer.prefix + (attention.value_is_key ? "key" : "value"), x)
            .unflatten(1, {key_heads, config_.HeadDim(layer.index)});
    if (limit > 0) v = v.clamp(-limit, limit);
    if (config_.value_norm) v = Normed(NormKind::kRms, config_.norm_epsilon, v, {}, {});
    if (layer.index >= config_.FirstLentLayer()) (*lent)[layer.index] = {k, v};
  }
  const at::Tensor q = HeadsOf(layer, "query", config_.heads, x);
  return {Turned(layer, "query", q).transpose(0, 1), Turned(layer, "key", k).transpose(0, 1),
          v.transpose(0, 1)};
}

// Each head's key and value are expanded from the latent key (ModelConfig::latent).
DifferentiableModel::QueryKeyValue DifferentiableModel::LatentProjections(
    const LayerTensors& layer, const at::Tensor& x) const {
  const LatentAttention& latent = config_.latent;
  const std::string& prefix = layer.prefix;
  const int64_t rotated = config_.rope_dimensions;
  const auto normed = [&](const std::string& name, const at::Tensor& values) {
    return Normed(NormKind::kRms, latent.norm_epsilon, values, NormWeight(prefix + name), {});
  };
  const auto turned = [&](const at::Tensor& heads) {
    const at::Tensor halves =
        latent.interleaved ? heads.unflatten(-1, {rotated / 2, 2}).transpose(-1, -2).flatten(-2)
                           : heads;
    return Rotated(halves, layer.cos, layer.sin);
  };
  const at::Tensor input =
      latent.query_rank > 0 ? normed("query_in_norm", Linear(prefix + "query_in", x)) : x;
  const at::Tensor q =
      Linear(prefix + "query", input).unflatten(1, {config_.heads, latent.plain + rotated});
  const at::Tensor query =
      at::cat({q.narrow(2, 0, latent.plain), turned(q.narrow(2, latent.plain, rotated))}, 2);

  const at::Tensor key = Linear(prefix + "latent", x);
  const at::Tensor compressed = normed("latent_norm", key.narrow(1, 0, latent.rank));
  at::Tensor plain;
  at::Tensor value;
  if (latent.split) {
    const at::Tensor expand = Weight(prefix + "latent_key_out").unflatten(0, {-1, latent.rank});
    plain = at::einsum("tr,hrp->thp", {compressed, expand});
    value = Linear(prefix + "latent_value_out", compressed).unflatten(1, {-1, latent.value});
  } else {
    const at::Tensor both = Linear(prefix + "latent_out", compressed)
                                .unflatten(1, {config_.heads, latent.plain + latent.value});
    plain = both.narrow(2, 0, latent.plain);
    value = both.narrow(2, latent.plain, latent.value);
  }
  const at::Tensor shared = turned(key.narrow(1, latent.rank, rotated).unsqueeze(1));
  const at::Tensor keys = at::cat({plain, shared.expand({-1, config_.heads, -1})}, 2);
  return {query.transpose(0, 1), keys.transpose(0, 1), value.transpose(0, 1)};
}

at::Tensor DifferentiableModel::Mlp(const std::string& prefix, const at::Tensor& x) const {
  return Linear(prefix + "down", ActivatedMlp(prefix, x));
}

at::Tensor DifferentiableModel::ActivatedMlp(const std::string& prefix, const at::Tensor& x) const {
  const at::Tensor up = Linear(prefix + "up", x);
  if (!config_.gated_mlp) {
    return config_.activation == Activation::kXielu ? Xielu(prefix, up)
                                                    : ActivatedByAten(config_.activation, up);
  }
  const at::Tensor gate = Scaled(Linear(prefix + "gate", x), config_.gate_scale);
  if (config_.activation == Activation::kClampedSwiglu)
    return ClampedSwigluOf(config_.clamped_swiglu, gate, up);
  return ActivatedByAten(config_.activation, gate) * up;
}

at::Tensor DifferentiableModel::Xielu(const std::string& prefix, const at::Tensor& x) const {
  const auto number = [&](const char* name, double XieluSettings::*member) {
    if (config_.xielu.empty()) return Weight(prefix + name).to(at::kFloat);
    const XieluSettings& settings = config_.xielu[static_cast<size_t>(std::stoll(prefix))];
    return at::full({1}, settings.*member, x.options().dtype(at::kFloat));
  };
  const at::Tensor beta = number("beta", &XieluSettings::beta);
  const at::Tensor epsilon = number("epsilon", &XieluSettings::epsilon);
  const at::Tensor positive =
      at::softplus(number("alpha_positive", &XieluSettings::alpha_positive));
  const at::Tensor negative =
      beta + at::softplus(number("alpha_negative", &XieluSettings::alpha_negative));
  const at::Tensor values = x.to(at::kFloat);
  const at::Tensor below = (at::expm1(at::minimum(values, epsilon)) - values) * negative;
  return (at::where(values > 0, values.square() * positive, below) + values * beta)
      .to(x.scalar_type());
}

at::Tensor DifferentiableModel::ExpertWeights(const std::string& prefix,
                                              const at::Tensor& x) const {
  const at::Tensor bias = Weight(prefix + "router.bias");
  at::Tensor logits = at::linear(x.to(at::kFloat), Weight(prefix + "router").to(at::kFloat));
  if (bias.defined()) logits = logits + bias;
  if (config_.experts.score != ExpertScore::kSigmoid)
    logits = logits.to(x.scalar_type()).to(at::kFloat);
  return ExpertWeightsOfRows(config_.experts, logits, Weight(prefix + "choice_bias"));
}

at::Tensor DifferentiableModel::Experts(const std::string& prefix, const at::Tensor& x) const {
  const ExpertSettings& experts = config_.experts;
  at::Tensor sum = at::zeros_like(x, at::kFloat);
  if (experts.shared_width > 0) {
    sum = Mlp(prefix + "shared.", x).to(at::kFloat);
    if (experts.shared_gate)
      sum = sum * at::sigmoid(Linear(prefix + "shared_gate", x).to(at::kFloat));
  }
  const bool beside = experts.beside_mlp;  // x is then the stream
  const at::Tensor input = beside ? Norm(prefix + "expert_norm", x) : x;
  at::Tensor weights = ExpertWeights(
      prefix,
      beside ? Norm(prefix + "router_norm", x) / std::sqrt(static_cast<double>(x.size(1))) : x);
  if (beside) weights = weights * Weight(prefix + "expert_scale").to(at::kFloat);
  for (int64_t expert = 0; expert < experts.count; ++expert) {
    const at::Tensor rows = weights.select(1, expert).detach().nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    const at::Tensor factors = weights.select(1, expert).index_select(0, rows).unsqueeze(1);
    at::Tensor in = input.index_select(0, rows);
    if (experts.scales_input) in = (in.to(at::kFloat) * factors).to(x.scalar_type());
    at::Tensor out = Mlp(prefix + "experts." + std::to_string(expert) + ".", in).to(at::kFloat);
    if (!experts.scales_input) out = out * factors;
    sum = sum.index_add(0, rows, out);
  }
  return sum.to(x.scalar_type());
}

at::Tensor DifferentiableModel::Linear(const std::string& name, const at::Tensor& x) const {
  const at::Tensor bias = Weight(name + ".bias");
  at::Tensor y = at::linear(x, Weight(name), bias.defined() ? std::optional(bias) : std::nullopt);
  const auto a = adapter_.tensors.find(name + kLoraA);
  if (a == adapter_.tensors.end()) return y;
  const at::Tensor& b = adapter_.tensors.at(name + kLoraB);
  const at::Tensor update = at::linear(at::linear(x.to(at::kFloat), a->second), b);
  return y + (update * adapter_.scale()).to(y.scalar_type());
}

at::Tensor DifferentiableModel::Norm(const std::string& name, const at::Tensor& x) const {
  return Normed(config_.norm, config_.norm_epsilon, x, NormWeight(name), Weight(name + ".bias"));
}

// x [token, head, head_dim].
at::Tensor DifferentiableModel::HeadNorm(const std::string& name, const at::Tensor& x) const {
  const at::Tensor weight = NormWeight(name);
  switch (config_.query_key_norm) {
    case QueryKeyNorm::kWidth:
      return Normed(NormKind::kRms, config_.norm_epsilon, x.flatten(1), weight, {}).view_as(x);
    case QueryKeyNorm::kEachHead:
      return Normed(config_.norm, config_.norm_epsilon, x, weight.view({x.size(1), x.size(2)}), {});
    default:
      return Normed(NormKind::kRms, config_.norm_epsilon, x, weight, {});
  }
}

at::Tensor DifferentiableModel::Weight(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? at::Tensor() : found->second;
}

at::Tensor DifferentiableModel::NormWeight(const std::string& name) const {
  const at::Tensor weight = Weight(name);
  if (!weight.defined()) return {};
  return config_.norm_adds_one ? weight.to(at::kFloat) + 1 : weight.to(at::kFloat);
}

void DifferentiableModel::SetAdapter(LoraAdapter adapter) {
  for (auto& [name, weight] : weights_) weight.set_requires_grad(false);
  adapter_ = std::move(adapter);
  for (auto& [name, tensor] : adapter_.tensors) {
    MIDSCOPE_CHECK(Weight(name.substr(0, name.rfind('.'))).defined(), "no matrix for " + name);
    tensor = tensor.to(options_.device).detach().clone().set_requires_grad(true);
  }
}

std::vector<at::Tensor> DifferentiableModel::Parameters() const { return ParametersOf(""); }

std::vector<at::Tensor> DifferentiableModel::ParametersOf(const std::string& prefix) const {
  std::vector<at::Tensor> parameters;
  for (const NamedTensors* tensors : {&weights_, &adapter_.tensors}) {
    for (auto next = tensors->lower_bound(prefix);
         next != tensors->end() && next->first.starts_with(prefix); ++next) {
      if (next->second.requires_grad()) parameters.push_back(next->second);
    }
  }
  return parameters;
}

}  // namespace midscope

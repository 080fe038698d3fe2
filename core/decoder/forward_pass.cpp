// SPDX-License-Identifier: MIT
#include "core/decoder/forward_pass.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/row_range.h"
#include "core/compute/query_key_finish.h"
#include "core/decoder/attention/latent_attention.h"
#include "core/decoder/mixer_step.h"
#include "core/decoder/mlp.h"
#include "core/decoder/project.h"
#include "core/decoder/residual_edits.h"
#include "core/decoder/show_rows.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// Rows of an MLP computed at a time, which limits scratch memory. A GPU needs more to be busy.
constexpr int64_t kPassRowChunk = 1024;
constexpr int64_t kPassDeviceRowChunk = 4096;
// Rows of an MLP with experts computed at a time; each expert gets only some of them.
constexpr int64_t kExpertRowChunk = 8192;

// Multiplies x as transformers does by a Python number: rounds the product, not the factor.
void Scale(double factor, const at::Tensor& x) {
  if (factor != 1.0) x.mul_(factor);
}

}  // namespace

ForwardPass::ForwardPass(const PassParts& parts, const JobContext& context)
    : config_(parts.config),
      weights_(parts.weights),
      devices_(parts.devices),
      ops_(&parts.devices.Of(0)),
      dtype_(parts.dtype),
      executor_(parts.executor),
      context_(context),
      attention_(parts.config, parts.rotary, parts.executor, context.cancel) {}

at::Tensor ForwardPass::Empty(int64_t rows, int64_t width) const {
  return at::empty({rows, width},
                   at::TensorOptions().dtype(TorchType(dtype_)).device(ops_->device()));
}

void ForwardPass::EnterDevice(int64_t layer) {
  ops_ = &devices_.Of(layer);
  layer_ = layer;
  if (!residual_.defined() || residual_.device() == ops_->device()) return;
  residual_ = residual_.to(ops_->device());
  if (layer_inputs_.defined()) layer_inputs_ = layer_inputs_.to(ops_->device());
  normalized_ = Empty(packed_rows_, config_.hidden);
}

void ForwardPass::Run(std::vector<SequencePass>& sequences) {
  const auto runs = [&](int64_t layer) {
    return std::any_of(sequences.begin(), sequences.end(),
                       [layer](const SequencePass& sequence) { return sequence.Runs(layer); });
  };
  int64_t first_layer = 0;
  while (first_layer + 1 < config_.layers && !runs(first_layer)) ++first_layer;
  for (SequencePass& sequence : sequences) {
    sequence.active_first = sequence.first_row[static_cast<size_t>(first_layer)];
    sequence.copies = &copies_;
  }
  if (first_layer == 0) {
    Embed(sequences);
  } else {
    EnterFromTrace(sequences, first_layer);
  }
  const int64_t end_layer = sequences.front().end_layer;
  for (int64_t layer = first_layer; layer < end_layer; ++layer) {
    context_.ThrowIfCancelled();
    ChangeRows(sequences, layer);
    Layer(sequences, layer);
    // Hooks receive the requested rows of the previous layer while the device computes this one.
    // Progress counts a layer when hooks have all of its rows.
    copies_.TellBelow(layer);
    const int64_t done = copies_.empty() ? layer + 1 : layer;
    context_.Report({kRunStage, done, config_.layers, "layers"});
  }
  KeepResidual(sequences, end_layer);
  if (copies_.empty()) return;
  copies_.TellAll();
  context_.Report({kRunStage, end_layer, config_.layers, "layers"});
}

void ForwardPass::ChangeRows(std::vector<SequencePass>& sequences, int64_t layer) {
  const auto index = static_cast<size_t>(layer);
  const bool same =
      std::all_of(sequences.begin(), sequences.end(), [index](const SequencePass& sequence) {
        return sequence.active_first == sequence.first_row[index];
      });
  if (same) return;
  // Rows that ran below this layer are now in the trace, so all rows can enter from there.
  KeepResidual(sequences, layer);
  for (SequencePass& sequence : sequences) sequence.active_first = sequence.first_row[index];
  EnterFromTrace(sequences, layer);
}

void ForwardPass::Pack(std::vector<SequencePass>& sequences, at::Device device) {
  packed_rows_ = 0;
  for (SequencePass& sequence : sequences) {
    sequence.packed_begin = packed_rows_;
    packed_rows_ += sequence.active_rows();
  }
  const auto options = at::TensorOptions().dtype(TorchType(dtype_)).device(device);
  // Copies from host memory to a GPU are much faster from pinned memory.
  const bool pinned = device.is_cpu() && devices_.Of(0).device().is_cuda();
  residual_ = at::empty({packed_rows_, config_.hidden}, options.pinned_memory(pinned));
  normalized_ = at::empty({packed_rows_, config_.hidden}, options);
}

void ForwardPass::Embed(std::vector<SequencePass>& sequences) {
  // The embedding table is in host memory even if the first layer is on a GPU.
  Pack(sequences, at::Device(at::kCPU));
  Gather(sequences, weights_.embedding, config_.embedding_scale, residual_);
  if (EmbedsPositions(config_.positions)) AddPositions(sequences);
  MakeLayerInputs(sequences);
  EnterDevice(0);
  if (config_.embedding_norm) Normalise(residual_, weights_.embedding_norm, residual_);
  Show(sequences, HookSite::kEmbed, -1, residual_);
}

// Adds position embeddings. A learned table has a row for every position of a run (LongestRun,
// CheckPositionsHeld).
void ForwardPass::AddPositions(const std::vector<SequencePass>& sequences) {
  const at::Tensor positions = at::empty(residual_.sizes(), residual_.scalar_type());
  auto* out = static_cast<std::byte*>(positions.data_ptr());
  for (const SequencePass& sequence : sequences) {
    const PositionIds& ids = sequence.plans.front().position_ids;
    for (int64_t row = sequence.active_first; row < sequence.rows; ++row) {
      weights_.positions.Row(ids.given() ? ids.At(row) : static_cast<double>(row), out);
      out += config_.hidden * kernels::SizeOf(dtype_);
    }
  }
  residual_.add_(positions);
}

void ForwardPass::EnterFromTrace(std::vector<SequencePass>& sequences, int64_t layer) {
  EnterDevice(layer);
  Pack(sequences, ops_->device());
  for (const SequencePass& sequence : sequences) {
    if (sequence.active_rows() == 0) continue;
    context_.ThrowIfCancelled();
    residual_.narrow(0, sequence.packed_begin, sequence.active_rows())
        .copy_(sequence.trace->storage().residual[static_cast<size_t>(layer)].narrow(
            0, sequence.active_first, sequence.active_rows()));
  }
  MakeLayerInputs(sequences);
}

void ForwardPass::Layer(std::vector<SequencePass>& sequences, int64_t layer) {
  EnterDevice(layer);
  // Hooks may change the layer's input before it is stored.
  Show(sequences, HookSite::kResidPre, layer, residual_);
  config_.MixesRows(layer) ? MixingHalf(sequences, layer) : SkipMixing(sequences, layer);
  if (config_.HasMlp(layer)) MlpHalf(sequences, layer);
  for (SequencePass& sequence : sequences) EditResidual(sequence, layer, residual_);
  Show(sequences, HookSite::kResidPost, layer, residual_);
}

void ForwardPass::Normalise(const at::Tensor& x, const Norm& norm, const at::Tensor& out,
                            const NormKeeps& keeps) {
  ops_->Normalise(config_.norm, x, norm, static_cast<float>(config_.norm_epsilon), out, keeps);
}

void ForwardPass::AddNormalise(const at::Tensor& residual, const at::Tensor& update,
                               const Norm& norm, const at::Tensor& out, const NormKeeps& keeps) {
  ops_->AddNormalise(config_.norm, residual, update, norm, static_cast<float>(config_.norm_epsilon),
                     out, keeps);
}

void ForwardPass::EnterMixing(std::vector<SequencePass>& sequences, int64_t layer) {
  if (!config_.input_norms) {
    KeepResidual(sequences, layer);
    normalized_.copy_(residual_);
  } else {
    const Norm& norm = weights_.layers[static_cast<size_t>(layer)].attention_norm;
    const NormKeeps keeps = KeepsOfNorm(sequences, layer);
    if (pending_.defined()) {
      AddNormalise(residual_, pending_, norm, normalized_, keeps);
      pending_.reset();
    } else {
      Normalise(residual_, norm, normalized_, keeps);
    }
    if (!keeps.input.defined()) KeepResidual(sequences, layer);
    KeepNormRows(sequences, keeps.mean, &Trace::Storage::norm_mean, layer);
    KeepNormRows(sequences, keeps.scale, &Trace::Storage::norm_scale, layer);
  }
  Show(sequences, HookSite::kNormalizedAttention, layer, normalized_);
}

void ForwardPass::DropUnneededRows(std::vector<SequencePass>& sequences,
                                   std::initializer_list<at::Tensor*> all_z) {
  const auto all_needed = [](const SequencePass& s) {
    return s.first_needed_row == s.active_first;
  };
  if (std::all_of(sequences.begin(), sequences.end(), all_needed)) return;
  std::vector<RowRange> kept;  // of the packed rows
  kept.reserve(sequences.size());
  packed_rows_ = 0;
  for (SequencePass& sequence : sequences) {
    const int64_t first = sequence.packed_begin + sequence.first_needed_row - sequence.active_first;
    sequence.active_first = sequence.first_needed_row;
    for (auto above = static_cast<size_t>(layer_) + 1; above < sequence.first_row.size(); ++above)
      sequence.first_row[above] = std::max(sequence.first_row[above], sequence.active_first);
    kept.push_back({first, first + sequence.active_rows()});
    sequence.packed_begin = packed_rows_;
    packed_rows_ += sequence.active_rows();
  }
  const auto keep = [&](at::Tensor& rows) {
    if (!rows.defined()) return;
    std::vector<at::Tensor> parts;
    parts.reserve(kept.size());
    for (const RowRange& part : kept)
      parts.push_back(rows.narrow(0, part.first, part.last - part.first));
    rows = at::cat(parts);
  };
  keep(residual_);
  keep(layer_inputs_);
  for (at::Tensor* z : all_z) keep(*z);
  normalized_ = Empty(packed_rows_, config_.hidden);
}

void ForwardPass::MixingHalf(std::vector<SequencePass>& sequences, int64_t layer) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  EnterMixing(sequences, layer);
  for (SequencePass& sequence : sequences)
    sequence.first_needed_row = FirstNeededRow(config_, sequence, layer);
  at::Tensor of_heads;
  at::Tensor of_mixer;
  if (config_.HasAttention(layer)) of_heads = AttentionZ(sequences, layer);
  if (config_.HasMixer(layer)) of_mixer = MixerZ(sequences, layer);
  DropUnneededRows(sequences, {&of_heads, &of_mixer});

  at::Tensor update;
  if (of_heads.defined()) {
    Show(sequences, HookSite::kZ, layer, of_heads, config_.heads);
    if (config_.latent.used()) {
      const LatentStep latent{config_, *ops_, weights.latent, {executor_, context_}};
      of_heads = ExpandLatent(latent, of_heads);
    }
    update = Projected(of_heads, weights.attention_out);
    Scale(config_.attention_scale, update);
  }
  if (of_mixer.defined()) {
    const at::Tensor added = Projected(of_mixer, weights.mixer.out);
    Scale(config_.mixer_scale, added);
    update = update.defined() ? update.add_(added) : added;
  }
  LeaveMixing(sequences, layer, update);
}

at::Tensor ForwardPass::AttentionZ(std::vector<SequencePass>& sequences, int64_t layer) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const int64_t q_width = config_.QueryWidth(layer);
  const int64_t kv_width = config_.KeyWidth(layer);
  const int64_t key_heads = config_.KeyValueHeads(layer);
  at::Tensor projected;
  if (config_.latent.used()) {
    projected = Empty(packed_rows_, q_width + 2 * kv_width);
    ProjectLatent({config_, *ops_, weights.latent, {executor_, context_}}, normalized_, projected);
  } else {
    projected = ProjectQueryKeyValue(sequences, layer);
  }
  Show(sequences, HookSite::kQuery, layer, projected.narrow(1, 0, q_width), config_.heads);
  if (!config_.SharesKeys(layer)) {
    Show(sequences, HookSite::kKey, layer, projected.narrow(1, q_width, kv_width), key_heads);
    Show(sequences, HookSite::kValue, layer, projected.narrow(1, q_width + kv_width, kv_width),
         key_heads);
  }
  context_.ThrowIfCancelled();
  const at::Tensor query_key_value = FinishQueryKeyValue(config_, *ops_, layer, weights, projected);

  at::Tensor z = Empty(packed_rows_, q_width);
  for (SequencePass& sequence : sequences) {
    if (sequence.active_rows() == 0) continue;
    attention_.Run(*ops_, sequence, layer, weights, normalized_, projected, query_key_value, z);
  }
  if (config_.gated_attention) z.mul_(Projected(normalized_, weights.attention_gate).sigmoid_());
  return z;
}

at::Tensor ForwardPass::MixerZ(std::vector<SequencePass>& sequences, int64_t layer) {
  const MixerWeights& weights = weights_.layers[static_cast<size_t>(layer)].mixer;
  const at::Tensor projected = Projected(normalized_, weights.input);
  context_.ThrowIfCancelled();
  at::Tensor z = Empty(packed_rows_, config_.Mixer().outputs);
  for (const SequencePass& sequence : sequences) {
    if (sequence.active_rows() == 0) continue;
    MixRows({config_, weights, executor_, context_}, sequence, layer, projected, z);
  }
  return z;
}

void ForwardPass::SkipMixing(std::vector<SequencePass>& sequences, int64_t layer) {
  if (pending_.defined()) {
    ops_->Add(residual_, pending_);
    pending_.reset();
  }
  KeepResidual(sequences, layer);
  LeaveMixing(sequences, layer, at::zeros_like(residual_));
}

void ForwardPass::LeaveMixing(std::vector<SequencePass>& sequences, int64_t layer,
                              const at::Tensor& update) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  context_.ThrowIfCancelled();
  if (config_.output_norms) Normalise(update, weights.attention_output_norm, update);
  Scale(config_.update_scale, update);
  Show(sequences, HookSite::kAttentionOut, layer, update);
  config_.HasMlp(layer) ? EnterMlp(sequences, layer, update) : SkipMlp(sequences, layer, update);
}

void ForwardPass::SkipMlp(std::vector<SequencePass>& sequences, int64_t layer,
                          const at::Tensor& update) {
  const bool shows_mlp = Wanted(sequences, HookSite::kMlpOut, layer);
  if (!shows_mlp && !Wanted(sequences, HookSite::kResidMid, layer) &&
      AddsWithNextNorm(sequences, layer)) {
    pending_ = update;
    return;
  }
  ops_->Add(residual_, update);
  Show(sequences, HookSite::kResidMid, layer, residual_);
  if (!shows_mlp) return;
  const at::Tensor none = at::zeros_like(residual_);
  Show(sequences, HookSite::kMlpOut, layer, none);
  ops_->Add(residual_, none);
}

// For few rows that no hook changes before they are stored, the product itself writes keys and
// values to the trace, because a kernel that copies them costs as much as reading megabytes of
// weights.
at::Tensor ForwardPass::ProjectQueryKeyValue(std::vector<SequencePass>& sequences, int64_t layer) {
  const Projection& projection = weights_.layers[static_cast<size_t>(layer)].query_key_value;
  SequencePass& sequence = sequences.front();
  if (ops_->host_memory() || sequences.size() > 1 || !sequence.keeps() ||
      sequence.hooks->writes() || FinishesQueryKey(config_) || !projection.bias.empty() ||
      config_.SharesKeys(layer)) {
    return Projected(normalized_, projection);
  }
  const Trace::Storage& store = sequence.trace->storage();
  const auto rows_of = [&](const at::Tensor& all) {
    return all.narrow(0, sequence.active_first, sequence.active_rows());
  };
  at::Tensor projected = Empty(packed_rows_, projection.weight.outputs());
  const BlockOps::Copies copies{config_.QueryWidth(layer),
                                {rows_of(store.Keys(layer)), rows_of(store.Values(layer))}};
  if (!projection.weight.MultiplyCopyingOnDevice(normalized_, copies, projected, context_))
    return Projected(normalized_, projection);
  sequence.stored_layer = layer;
  return projected;
}

void ForwardPass::EnterMlp(std::vector<SequencePass>& sequences, int64_t layer,
                           const at::Tensor& update) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const Norm& norm = config_.shared_norm ? weights.attention_norm : weights.mlp_norm;
  const auto read_stream = [&] {
    if (config_.input_norms) {
      Normalise(residual_, norm, normalized_);
    } else {
      normalized_.copy_(residual_);
    }
  };
  if (config_.parallel_residual) {
    read_stream();
    ops_->Add(residual_, update);
  } else if (!config_.input_norms || Wanted(sequences, HookSite::kResidMid, layer)) {
    ops_->Add(residual_, update);
    if (config_.stream_norms) Normalise(residual_, weights.attention_norm, residual_);
    Show(sequences, HookSite::kResidMid, layer, residual_);
    read_stream();
  } else {
    AddNormalise(residual_, update, norm, normalized_, {});
  }
  Show(sequences, HookSite::kNormalizedMlp, layer, normalized_);
}

void ForwardPass::MlpHalf(std::vector<SequencePass>& sequences, int64_t layer) {
  context_.ThrowIfCancelled();
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const bool experts = config_.experts.In(layer);
  const int64_t plain = ops_->host_memory() ? kPassRowChunk : kPassDeviceRowChunk;
  const int64_t chunk = experts ? kExpertRowChunk : plain;
  for (int64_t first = 0; first < packed_rows_; first += chunk) {
    const int64_t rows = std::min(chunk, packed_rows_ - first);
    const at::Tensor update =
        experts ? Experts(sequences, layer, first, rows) : Mlp(sequences, layer, first, rows);
    Scale(config_.mlp_scale, update);
    if (config_.output_norms) Normalise(update, weights.mlp_output_norm, update);
    Scale(config_.update_scale, update);
    Show(sequences, HookSite::kMlpOut, layer, update, 0, first);
    if (rows == packed_rows_ && AddsWithNextNorm(sequences, layer)) {
      pending_ = update;
      return;
    }
    const at::Tensor stream = residual_.narrow(0, first, rows);
    ops_->Add(stream, update);
    if (config_.stream_norms) Normalise(stream, weights.mlp_norm, stream);
    if (config_.layer_input_width > 0) AddLayerInput(sequences, layer, first, stream);
    if (config_.layer_scale) stream.mul_(weights.layer_scale);
  }
}

bool ForwardPass::AddsWithNextNorm(const std::vector<SequencePass>& sequences,
                                   int64_t layer) const {
  const int64_t next = layer + 1;
  if (next >= sequences.front().end_layer || !config_.input_norms || config_.stream_norms ||
      config_.layer_scale || config_.layer_input_width > 0 || &devices_.Of(next) != ops_ ||
      Wanted(sequences, HookSite::kResidPost, layer) ||
      Wanted(sequences, HookSite::kResidPre, next)) {
    return false;
  }
  return std::all_of(sequences.begin(), sequences.end(), [&](const SequencePass& sequence) {
    return sequence.plans[static_cast<size_t>(layer)].residual.empty() &&
           sequence.first_row[static_cast<size_t>(next)] == sequence.active_first;
  });
}

at::Tensor ForwardPass::Mlp(std::vector<SequencePass>& sequences, int64_t layer, int64_t first,
                            int64_t rows) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const at::Tensor post = ActivatedMlp(*ops_, config_, weights.mlp, weights.xielu,
                                       normalized_.narrow(0, first, rows), {executor_, context_});
  Show(sequences, HookSite::kMlpPost, layer, post, 0, first);
  return Projected(post, weights.mlp.down);
}

at::Tensor ForwardPass::Experts(std::vector<SequencePass>& sequences, int64_t layer, int64_t first,
                                int64_t rows) {
  const ExpertStep step{
      config_, *ops_, weights_.layers[static_cast<size_t>(layer)].experts, {executor_, context_}};
  const bool beside_mlp = config_.experts.beside_mlp;
  // Returns the experts' input: normalized_ or, with beside_mlp, the residual stream after `norm`.
  const auto input = [&](const Norm& norm) {
    if (!beside_mlp) return normalized_.narrow(0, first, rows);
    at::Tensor normed = Empty(rows, config_.hidden);
    Normalise(residual_.narrow(0, first, rows), norm, normed);
    return normed;
  };
  const at::Tensor weights = RouteRows(step, input(step.weights.router_norm));
  Show(sequences, HookSite::kExpertWeights, layer, weights, 0, first);
  at::Tensor update = Empty(rows, config_.hidden);
  RunExperts(step, input(step.weights.input_norm), weights, update);
  if (!beside_mlp) return update;
  Normalise(update, step.weights.output_norm, update);
  const at::Tensor of_mlp = Mlp(sequences, layer, first, rows);
  Normalise(of_mlp, step.weights.mlp_norm, of_mlp);
  return update.add_(of_mlp);
}

at::Tensor ForwardPass::Projected(const at::Tensor& x, const Projection& projection) const {
  return midscope::Projected(*ops_, x, projection, {executor_, context_});
}

bool ForwardPass::Wanted(const std::vector<SequencePass>& sequences, HookSite site,
                         int64_t layer) const {
  return std::any_of(sequences.begin(), sequences.end(),
                     [&](const SequencePass& s) { return !s.hooks->Wanted(site, layer).empty(); });
}

void ForwardPass::Show(std::vector<SequencePass>& sequences, HookSite site, int64_t layer,
                       const at::Tensor& packed, int64_t heads, int64_t packed_first) {
  const kernels::Dtype shown =
      packed.scalar_type() == at::kFloat ? kernels::Dtype::kFloat32 : dtype_;
  for (SequencePass& sequence : sequences) {
    if (sequence.hooks->Wanted(site, layer).empty()) continue;
    // The part ranges of the packed rows that belongs to this sequence.
    const int64_t begin = std::max(sequence.packed_begin, packed_first);
    const int64_t end =
        std::min(sequence.packed_begin + sequence.active_rows(), packed_first + packed.size(0));
    if (begin >= end) continue;
    ShowRows(*ops_, sequence, {site, layer}, sequence.active_first + begin - sequence.packed_begin,
             shown, packed.narrow(0, begin - packed_first, end - begin), heads);
  }
}

}  // namespace midscope

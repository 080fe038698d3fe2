// SPDX-License-Identifier: MIT
#include "core/forward_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "kernels/matrix_vector.h"
#include "kernels/normalise.h"

namespace midscope {
namespace {

// Rows of a matrix product between two looks at the cancel flag; also bounds the MLP's scratch.
constexpr int64_t kRowChunk = 1024;

}  // namespace

ForwardPass::ForwardPass(const ModelConfig& config, const Weights& weights, kernels::Dtype dtype,
                         RotaryCache& rotary, const kernels::Executor& executor,
                         const JobContext& context)
    : config_(config),
      weights_(weights),
      dtype_(dtype),
      executor_(executor),
      context_(context),
      attention_(config, dtype, rotary, executor, context.cancel) {}

at::Tensor ForwardPass::Empty(int64_t rows, int64_t width) const {
  return at::empty({rows, width}, at::TensorOptions().dtype(TorchType(dtype_)));
}

void ForwardPass::Run(std::vector<SequencePass>& sequences, const PassRange& range) {
  if (range.tail_layer == 0) {
    Embed(sequences);
  } else {
    EnterFromTrace(sequences, range.tail_layer);
  }
  for (int64_t layer = range.tail_layer; layer < config_.layers; ++layer) {
    context_.ThrowIfCancelled();
    const bool widen =
        layer == range.full_layer && std::any_of(sequences.begin(), sequences.end(),
                                                 [](const auto& s) { return s.active_first > 0; });
    if (widen) {
      // Rows that ran below this layer are in the trace by now, so all rows can enter from there.
      KeepResidual(sequences, layer);
      for (SequencePass& sequence : sequences) sequence.active_first = 0;
      EnterFromTrace(sequences, layer);
    }
    Layer(sequences, layer);
    context_.Report({"run", layer + 1, config_.layers, "layers"});
  }
  KeepResidual(sequences, config_.layers);
}

void ForwardPass::Pack(std::vector<SequencePass>& sequences) {
  packed_rows_ = 0;
  for (SequencePass& sequence : sequences) {
    sequence.packed_begin = packed_rows_;
    packed_rows_ += sequence.active_rows();
  }
  residual_ = Empty(packed_rows_, config_.hidden);
  normalized_ = Empty(packed_rows_, config_.hidden);
}

void ForwardPass::Embed(std::vector<SequencePass>& sequences) {
  Pack(sequences);
  const int64_t row_bytes = config_.hidden * kernels::SizeOf(dtype_);
  const auto* table = static_cast<const std::byte*>(weights_.embedding.data_ptr());
  auto* out = static_cast<std::byte*>(residual_.data_ptr());
  for (const SequencePass& sequence : sequences) {
    for (int64_t row = sequence.active_first; row < sequence.rows; ++row) {
      const int64_t id = sequence.request->ids[static_cast<size_t>(row)];
      std::memcpy(out, table + id * row_bytes, static_cast<size_t>(row_bytes));
      out += row_bytes;
    }
  }
  Show(sequences, HookSite::kEmbed, -1, residual_);
}

void ForwardPass::EnterFromTrace(std::vector<SequencePass>& sequences, int64_t layer) {
  Pack(sequences);
  for (const SequencePass& sequence : sequences) {
    residual_.narrow(0, sequence.packed_begin, sequence.active_rows())
        .copy_(sequence.trace->storage().residual[static_cast<size_t>(layer)].narrow(
            0, sequence.active_first, sequence.active_rows()));
  }
}

void ForwardPass::KeepResidual(std::vector<SequencePass>& sequences, int64_t layer) {
  for (SequencePass& sequence : sequences) {
    if (!sequence.trace->has_residual()) continue;
    sequence.trace->storage()
        .residual[static_cast<size_t>(layer)]
        .narrow(0, sequence.active_first, sequence.active_rows())
        .copy_(residual_.narrow(0, sequence.packed_begin, sequence.active_rows()));
  }
}

void ForwardPass::KeepInverseRms(std::vector<SequencePass>& sequences, int64_t layer,
                                 const at::Tensor& inverse_rms) {
  for (SequencePass& sequence : sequences) {
    if (!sequence.trace->has_residual()) continue;
    sequence.trace->storage()
        .inverse_rms[static_cast<size_t>(layer)]
        .narrow(0, sequence.active_first, sequence.active_rows())
        .copy_(inverse_rms.narrow(0, sequence.packed_begin, sequence.active_rows()));
  }
}

void ForwardPass::Layer(std::vector<SequencePass>& sequences, int64_t layer) {
  // Hooks see, and may change, what enters before it is kept.
  Show(sequences, HookSite::kResidPre, layer, residual_);
  KeepResidual(sequences, layer);
  AttentionHalf(sequences, layer);
  MlpHalf(sequences, layer);
  Show(sequences, HookSite::kResidPost, layer, residual_);
}

void ForwardPass::AttentionHalf(std::vector<SequencePass>& sequences, int64_t layer) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const int64_t q_width = config_.heads * config_.head_dim;
  const int64_t kv_width = config_.key_value_heads * config_.head_dim;
  const auto epsilon = static_cast<float>(config_.rms_norm_epsilon);
  at::Tensor inverse_rms = at::empty({packed_rows_}, at::TensorOptions().dtype(at::kFloat));
  kernels::RmsNorm(residual_.data_ptr(), weights.attention_norm.data(), epsilon, packed_rows_,
                   config_.hidden, dtype_, normalized_.data_ptr(), inverse_rms.data_ptr<float>(),
                   executor_);
  KeepInverseRms(sequences, layer, inverse_rms);
  Show(sequences, HookSite::kNormalizedAttention, layer, normalized_);

  const at::Tensor query_key_value = Empty(packed_rows_, q_width + 2 * kv_width);
  Multiply(normalized_, weights.query_key_value, query_key_value);
  Show(sequences, HookSite::kQuery, layer, query_key_value.narrow(1, 0, q_width), config_.heads);
  Show(sequences, HookSite::kKey, layer, query_key_value.narrow(1, q_width, kv_width),
       config_.key_value_heads);
  Show(sequences, HookSite::kValue, layer, query_key_value.narrow(1, q_width + kv_width, kv_width),
       config_.key_value_heads);

  const at::Tensor z = Empty(packed_rows_, q_width);
  for (SequencePass& sequence : sequences) {
    attention_.Run(sequence, layer, weights, normalized_, query_key_value, z);
  }
  Show(sequences, HookSite::kZ, layer, z, config_.heads);

  const at::Tensor update = Empty(packed_rows_, config_.hidden);
  Multiply(z, weights.attention_out, update);
  Show(sequences, HookSite::kAttentionOut, layer, update);
  if (Wanted(sequences, HookSite::kResidMid, layer)) {
    kernels::Add(residual_.data_ptr(), update.data_ptr(), packed_rows_ * config_.hidden, dtype_,
                 executor_);
    Show(sequences, HookSite::kResidMid, layer, residual_);
    kernels::RmsNorm(residual_.data_ptr(), weights.mlp_norm.data(), epsilon, packed_rows_,
                     config_.hidden, dtype_, normalized_.data_ptr(), nullptr, executor_);
  } else {
    kernels::AddRmsNorm(residual_.data_ptr(), update.data_ptr(), weights.mlp_norm.data(), epsilon,
                        packed_rows_, config_.hidden, dtype_, normalized_.data_ptr(), nullptr,
                        executor_);
  }
  Show(sequences, HookSite::kNormalizedMlp, layer, normalized_);
}

void ForwardPass::MlpHalf(std::vector<SequencePass>& sequences, int64_t layer) {
  const LayerWeights& weights = weights_.layers[static_cast<size_t>(layer)];
  const int64_t chunk_rows = std::min(kRowChunk, packed_rows_);
  const at::Tensor gate_up = Empty(chunk_rows, 2 * config_.feed_forward);
  const at::Tensor post = Empty(chunk_rows, config_.feed_forward);
  const at::Tensor update = Empty(chunk_rows, config_.hidden);
  for (int64_t first = 0; first < packed_rows_; first += kRowChunk) {
    const int64_t rows = std::min(kRowChunk, packed_rows_ - first);
    const auto part = [rows](const at::Tensor& tensor) { return tensor.narrow(0, 0, rows); };
    Multiply(normalized_.narrow(0, first, rows), weights.gate_up, part(gate_up));
    kernels::SwiGlu(gate_up.data_ptr(), rows, config_.feed_forward, dtype_, post.data_ptr(),
                    executor_);
    Show(sequences, HookSite::kMlpPost, layer, part(post), 0, first);
    Multiply(part(post), weights.down, part(update));
    Show(sequences, HookSite::kMlpOut, layer, part(update), 0, first);
    kernels::Add(residual_.narrow(0, first, rows).data_ptr(), update.data_ptr(),
                 rows * config_.hidden, dtype_, executor_);
  }
}

void ForwardPass::Multiply(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& y) {
  const int64_t rows = x.size(0);
  if (rows <= kernels::kMatrixVectorRows) {
    kernels::MatrixVector(weight.data_ptr(), x.data_ptr(), rows, weight.size(1), weight.size(0),
                          dtype_, y.data_ptr(), dtype_, executor_);
    return;
  }
  const at::Tensor transposed = weight.t();
  for (int64_t first = 0; first < rows; first += kRowChunk) {
    context_.ThrowIfCancelled();
    const int64_t count = std::min(kRowChunk, rows - first);
    at::Tensor out = y.narrow(0, first, count);
    at::mm_out(out, x.narrow(0, first, count), transposed);
  }
}

bool ForwardPass::Wanted(const std::vector<SequencePass>& sequences, HookSite site,
                         int64_t layer) const {
  return std::any_of(sequences.begin(), sequences.end(),
                     [&](const SequencePass& s) { return !s.hooks->Wanted(site, layer).empty(); });
}

void ForwardPass::Show(std::vector<SequencePass>& sequences, HookSite site, int64_t layer,
                       const at::Tensor& packed, int64_t heads, int64_t packed_first) {
  for (SequencePass& sequence : sequences) {
    if (sequence.hooks->Wanted(site, layer).empty()) continue;
    // The part of this sequence that lies in the packed rows shown.
    const int64_t begin = std::max(sequence.packed_begin, packed_first);
    const int64_t end =
        std::min(sequence.packed_begin + sequence.active_rows(), packed_first + packed.size(0));
    if (begin >= end) continue;
    HookView view;
    view.point = {site, layer};
    view.sequence = sequence.index;
    view.first_row = sequence.active_first + begin - sequence.packed_begin;
    view.dtype = dtype_;
    view.data = packed.narrow(0, begin - packed_first, end - begin).data_ptr();
    if (heads > 0) {
      const int64_t width = packed.size(1) / heads;
      view.dimensions = 4;
      view.shape = {1, end - begin, heads, width};
      view.strides = {0, packed.stride(0), width, 1};
    } else {
      view.dimensions = 3;
      view.shape = {1, end - begin, packed.size(1), 1};
      view.strides = {0, packed.stride(0), 1, 0};
    }
    sequence.hooks->Call(view);
  }
}

std::vector<float> ForwardPass::Logits(const SequencePass& sequence, int64_t first) {
  const int64_t rows = sequence.rows - first;
  const at::Tensor normalized = Empty(rows, config_.hidden);
  const at::Tensor source =
      residual_.narrow(0, sequence.packed_begin + first - sequence.active_first, rows);
  kernels::RmsNorm(source.data_ptr(), weights_.final_norm.data(),
                   static_cast<float>(config_.rms_norm_epsilon), rows, config_.hidden, dtype_,
                   normalized.data_ptr(), nullptr, executor_);
  if (!sequence.hooks->Wanted(HookSite::kFinalNormalized, -1).empty()) {
    HookView view{{HookSite::kFinalNormalized, -1},
                  sequence.index,
                  first,
                  dtype_,
                  normalized.data_ptr(),
                  3,
                  {1, rows, config_.hidden, 1},
                  {0, config_.hidden, 1, 0}};
    sequence.hooks->Call(view);
  }
  std::vector<float> logits(static_cast<size_t>(rows * config_.vocabulary));
  for (int64_t row = 0; row < rows; row += kernels::kMatrixVectorRows) {
    const int64_t count = std::min(kernels::kMatrixVectorRows, rows - row);
    kernels::MatrixVector(weights_.output.data_ptr(), normalized.narrow(0, row, count).data_ptr(),
                          count, config_.hidden, config_.vocabulary, dtype_,
                          logits.data() + row * config_.vocabulary, kernels::Dtype::kFloat32,
                          executor_);
  }
  return logits;
}

}  // namespace midscope

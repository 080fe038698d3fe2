// SPDX-License-Identifier: MIT
#include "core/decoder/forward_pass.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "core/decoder/show_rows.h"
#include "kernels/check.h"
#include "kernels/matrix_vector.h"

namespace midscope {

// Stores values of a pass in the traces of its sequences.

namespace {

bool Keeps(const SequencePass& sequence, int64_t layer) {
  return sequence.keeps() && layer >= sequence.trace->first_layer();
}

bool KeepsResidual(const SequencePass& sequence, int64_t layer) {
  return Keeps(sequence, layer) && sequence.trace->has_residual();
}

bool KeepsNormRows(const SequencePass& sequence, std::vector<at::Tensor> Trace::Storage::*where,
                   int64_t layer) {
  return Keeps(sequence, layer) && !(sequence.trace->storage().*where).empty();
}

}  // namespace

void ForwardPass::KeepResidual(std::vector<SequencePass>& sequences, int64_t layer) {
  for (SequencePass& sequence : sequences) {
    if (!KeepsResidual(sequence, layer)) continue;
    // Stores only changed rows: if all rows are recomputed because the trace has dropped lower
    // layers, it already has the unchanged ones.
    const int64_t first =
        layer < config_.layers
            ? std::max(sequence.active_first, sequence.first_row[static_cast<size_t>(layer)])
            : sequence.active_first;
    const int64_t count = sequence.rows - first;
    if (count == 0) continue;
    sequence.trace->storage()
        .residual[static_cast<size_t>(layer)]
        .narrow(0, first, count)
        .copy_(residual_.narrow(0, sequence.packed_begin + first - sequence.active_first, count));
  }
}

at::Tensor ForwardPass::NormRows(const std::vector<SequencePass>& sequences,
                                 std::vector<at::Tensor> Trace::Storage::*where,
                                 int64_t layer) const {
  const auto keeps = [&](const SequencePass& sequence) {
    return KeepsNormRows(sequence, where, layer);
  };
  if (std::none_of(sequences.begin(), sequences.end(), keeps)) return {};
  if (sequences.size() == 1) {
    const SequencePass& sequence = sequences.front();
    return (sequence.trace->storage().*where)[static_cast<size_t>(layer)].narrow(
        0, sequence.active_first, sequence.active_rows());
  }
  return at::empty({packed_rows_}, at::TensorOptions().dtype(at::kFloat).device(ops_->device()));
}

void ForwardPass::KeepNormRows(std::vector<SequencePass>& sequences, const at::Tensor& values,
                               std::vector<at::Tensor> Trace::Storage::*where, int64_t layer) {
  // Rows of a single sequence need no copy: the norm has written them directly to the trace.
  if (!values.defined() || sequences.size() == 1) return;
  for (SequencePass& sequence : sequences) {
    if (!KeepsNormRows(sequence, where, layer)) continue;
    (sequence.trace->storage().*where)[static_cast<size_t>(layer)]
        .narrow(0, sequence.active_first, sequence.active_rows())
        .copy_(values.narrow(0, sequence.packed_begin, sequence.active_rows()));
  }
}

NormKeeps ForwardPass::KeepsOfNorm(const std::vector<SequencePass>& sequences,
                                   int64_t layer) const {
  NormKeeps keeps{NormRows(sequences, &Trace::Storage::norm_mean, layer),
                  NormRows(sequences, &Trace::Storage::norm_scale, layer),
                  {}};
  const SequencePass& first = sequences.front();
  // The norm writes its input to the trace only if all active rows are stored, contiguously.
  if (sequences.size() == 1 && KeepsResidual(first, layer) && first.active_rows() > 0 &&
      first.first_row[static_cast<size_t>(layer)] <= first.active_first) {
    keeps.input = first.trace->storage().residual[static_cast<size_t>(layer)].narrow(
        0, first.active_first, first.active_rows());
  }
  return keeps;
}

// The last part of a pass: computes logits from the residual stream.

void ForwardPass::FinalNorm(const at::Tensor& residual, const at::Tensor& out) {
  if (!config_.final_norm) return void(out.copy_(residual));
  Normalise(residual, weights_.final_norm, out);
}

at::Tensor ForwardPass::FinalNormalised(const SequencePass& sequence, int64_t first) {
  const int64_t rows = sequence.rows - first;
  at::Tensor normalized = Empty(rows, config_.hidden);
  const at::Tensor source =
      residual_.narrow(0, sequence.packed_begin + first - sequence.active_first, rows);
  FinalNorm(source, normalized);
  if (!sequence.hooks->Wanted(HookSite::kFinalNormalized, -1).empty()) {
    ShowRows(*ops_, sequence, {HookSite::kFinalNormalized, -1}, first, dtype_, normalized);
    copies_.TellAll();
  }
  return normalized;
}

std::vector<float> ForwardPass::Logits(const SequencePass& sequence, int64_t first) {
  return Output(FinalNormalised(sequence, first));
}

at::Tensor ForwardPass::LogitsOnDevice(const SequencePass& sequence, int64_t first) {
  at::Tensor logits;
  PartsOfLogits(FinalNormalised(sequence, first), [&](int64_t from, const at::Tensor& part) {
    MIDSCOPE_CHECK_EQ(from, 0);
    logits = part;
  });
  return logits;
}

std::vector<float> ForwardPass::LogitsFrom(const at::Tensor& on_device) const {
  std::vector<float> logits(static_cast<size_t>(on_device.numel()));
  at::from_blob(logits.data(), on_device.sizes(), at::kFloat).copy_(on_device);
  FinishLogits(logits);
  return logits;
}

std::vector<TopToken> ForwardPass::Likeliest(const SequencePass& sequence, int64_t first,
                                             int64_t k) {
  const at::Tensor normalized = FinalNormalised(sequence, first);
  if (ops_->host_memory() || !weights_.output.bias.empty())
    return TopTokensOfRows(Output(normalized), config_.vocabulary, k);
  std::vector<TopToken> likeliest;
  PartsOfLogits(normalized, [&](int64_t, const at::Tensor& part) {
    if (config_.output_scale != 1.0) part.mul_(config_.output_scale);
    if (config_.final_softcap != 0)
      part.div_(config_.final_softcap).tanh_().mul_(config_.final_softcap);
    const std::vector<TopToken> of_part = ops_->TopTokens(part, k);
    likeliest.insert(likeliest.end(), of_part.begin(), of_part.end());
  });
  return likeliest;
}

std::vector<std::vector<float>> ForwardPass::LogitsTogether(
    const std::vector<SequencePass>& sequences) {
  std::vector<at::Tensor> parts;
  parts.reserve(sequences.size());
  for (const SequencePass& sequence : sequences) {
    const int64_t first = sequence.first_reported_row();
    parts.push_back(residual_.narrow(0, sequence.packed_begin + first - sequence.active_first,
                                     sequence.rows - first));
  }
  const at::Tensor residual = at::cat(parts);
  const at::Tensor normalized = Empty(residual.size(0), config_.hidden);
  FinalNorm(residual, normalized);
  const std::vector<float> logits = OutputOfMany(normalized);
  std::vector<std::vector<float>> of_sequences;
  of_sequences.reserve(parts.size());
  auto begin = logits.begin();
  for (const at::Tensor& part : parts) {
    const auto end = begin + part.size(0) * config_.vocabulary;
    of_sequences.emplace_back(begin, end);
    begin = end;
  }
  return of_sequences;
}

std::vector<float> ForwardPass::Output(const at::Tensor& normalized) {
  const int64_t rows = normalized.size(0);
  std::vector<float> logits(static_cast<size_t>(rows * config_.vocabulary));
  if (!ops_->host_memory()) {
    PartsOfLogits(normalized, [&](int64_t first, const at::Tensor& part) {
      at::from_blob(logits.data() + first * config_.vocabulary, part.sizes(), at::kFloat)
          .copy_(part);
    });
    FinishLogits(logits);
    return logits;
  }
  for (int64_t row = 0; row < rows; row += kernels::kMatrixVectorRows) {
    context_.ThrowIfCancelled();
    const int64_t count = std::min(kernels::kMatrixVectorRows, rows - row);
    weights_.output.weight.MultiplyFew(normalized.narrow(0, row, count),
                                       logits.data() + row * config_.vocabulary,
                                       kernels::Dtype::kFloat32, executor_);
  }
  FinishLogits(logits);
  return logits;
}

void ForwardPass::PartsOfLogits(
    const at::Tensor& normalized,
    const std::function<void(int64_t first, const at::Tensor& part)>& take) {
  const int64_t rows = normalized.size(0);
  for (int64_t row = 0; row < rows; row += kLogitRows) {
    const int64_t count = std::min(kLogitRows, rows - row);
    const at::Tensor part =
        at::empty({count, config_.vocabulary}, normalized.options().dtype(at::kFloat));
    weights_.output.weight.MultiplyOnDevice(normalized.narrow(0, row, count), part, context_);
    take(row, part);
  }
}

std::vector<float> ForwardPass::Unembed(std::span<const float> residual) {
  const auto width = static_cast<size_t>(config_.hidden);
  MIDSCOPE_CHECK_EQ(residual.size() % width, 0);
  const auto rows = static_cast<int64_t>(residual.size() / width);
  EnterDevice(config_.layers);
  const at::Tensor floats =
      at::empty({rows, config_.hidden}, at::TensorOptions().dtype(at::kFloat));
  std::copy(residual.begin(), residual.end(), floats.data_ptr<float>());
  const at::Tensor source = floats.to(ops_->device(), TorchType(dtype_));
  const at::Tensor normalized = Empty(rows, config_.hidden);
  FinalNorm(source, normalized);
  return OutputOfMany(normalized);
}

std::vector<float> ForwardPass::OutputOfMany(const at::Tensor& normalized) {
  const int64_t rows = normalized.size(0);
  // For many rows, one product reads the output matrix once, but its result has the run's dtype.
  // bfloat16 therefore uses dot products, whose result is float32.
  if (rows <= kernels::kMatrixVectorRows || dtype_ != kernels::Dtype::kFloat32 ||
      !ops_->host_memory()) {
    return Output(normalized);
  }
  std::vector<float> logits(static_cast<size_t>(rows * config_.vocabulary));
  const at::Tensor out = at::from_blob(logits.data(), {rows, config_.vocabulary},
                                       at::TensorOptions().dtype(at::kFloat));
  weights_.output.weight.Multiply(normalized, out, {executor_, context_});
  FinishLogits(logits);
  return logits;
}

void ForwardPass::FinishLogits(std::vector<float>& logits) const {
  const std::vector<float>& bias = weights_.output.bias;
  for (size_t i = 0; !bias.empty() && i < logits.size(); ++i) logits[i] += bias[i % bias.size()];
  if (config_.output_scale != 1.0) {
    const auto scale = static_cast<float>(config_.output_scale);
    for (float& logit : logits) logit *= scale;
  }
  if (config_.final_softcap == 0) return;
  const auto cap = static_cast<float>(config_.final_softcap);
  for (float& logit : logits) logit = cap * std::tanh(logit / cap);
}

}  // namespace midscope

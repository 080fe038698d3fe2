// SPDX-License-Identifier: MIT
#include "core/decoder/collect_results.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"

namespace midscope {
namespace {

// Keeps the ratios of layers that a re-run does not change.
void KeepRatios(SequencePass& sequence) {
  for (size_t layer = 0; layer < sequence.plans.size(); ++layer) {
    if (sequence.Runs(static_cast<int64_t>(layer))) continue;
    sequence.plans[layer].q_ratio = sequence.frozen_plans[layer].q_ratio;
    sequence.plans[layer].k_ratio = sequence.frozen_plans[layer].k_ratio;
  }
}

// Results of the rows from first_reported_row on.
struct ReportedRows {
  std::vector<float> logits;        // [row, vocabulary]
  std::vector<TopToken> likeliest;  // [row, RunRequest::likeliest]
};

ReportedRows OfLogits(std::vector<float> logits, const RunRequest& request, int64_t vocabulary) {
  if (request.likeliest == 0) return {std::move(logits), {}};
  return {{}, TopTokensOfRows(logits, vocabulary, request.likeliest)};
}

// Returns the rows of every sequence; empty if a sequence ends below the last layer.
std::vector<ReportedRows> AllRows(const std::vector<SequencePass>& sequences,
                                  std::span<const RunRequest> requests, const ModelConfig& config,
                                  ForwardPass& pass) {
  std::vector<ReportedRows> rows(sequences.size());
  if (!sequences.front().keeps()) {
    std::vector<std::vector<float>> logits = pass.LogitsTogether(sequences);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = OfLogits(std::move(logits[i]), requests[i], config.vocabulary);
    return rows;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (sequences[i].end_layer != config.layers) continue;
    const int64_t first = sequences[i].first_reported_row();
    if (requests[i].likeliest > 0) {
      rows[i].likeliest = pass.Likeliest(sequences[i], first, requests[i].likeliest);
    } else {
      rows[i].logits = pass.Logits(sequences[i], first);
    }
  }
  return rows;
}

RunResult Collect(const SequencePass& sequence, ReportedRows rows, const ModelConfig& config,
                  kernels::Dtype dtype) {
  RunResult result;
  result.vocabulary = config.vocabulary;
  result.first_logit_row = sequence.first_reported_row();
  result.logits = std::move(rows.logits);
  result.likeliest = std::move(rows.likeliest);
  const bool finite = std::all_of(result.logits.begin(), result.logits.end(),
                                  [](float x) { return std::isfinite(x); }) &&
                      std::all_of(result.likeliest.begin(), result.likeliest.end(),
                                  [](const TopToken& x) { return std::isfinite(x.logit); });
  if (!finite) {
    throw Failure("run", "the model gave logits that are not finite",
                  dtype == kernels::Dtype::kFloat16
                      ? "float16 ends at 65,504: use --dtype bfloat16 or float32"
                      : "An intervention may be too strong, or the file is damaged");
  }
  result.position_ratio.layers = config.layers;
  result.position_ratio.heads = config.heads;
  for (const AttentionPlan& plan : sequence.plans) {
    result.position_ratio.values.insert(result.position_ratio.values.end(), plan.q_ratio.begin(),
                                        plan.q_ratio.end());
  }
  return result;
}

}  // namespace

RunResult CollectResult(SequencePass& sequence, std::vector<float> logits,
                        const ModelConfig& config, kernels::Dtype dtype) {
  KeepRatios(sequence);
  return Collect(sequence, {std::move(logits), {}}, config, dtype);
}

std::vector<RunResult> CollectResults(std::vector<SequencePass>& sequences,
                                      std::span<const RunRequest> requests,
                                      const ModelConfig& config, kernels::Dtype dtype,
                                      ForwardPass& pass) {
  std::vector<ReportedRows> rows = AllRows(sequences, requests, config, pass);
  std::vector<RunResult> results;
  results.reserve(sequences.size());
  for (size_t i = 0; i < sequences.size(); ++i) {
    KeepRatios(sequences[i]);
    results.push_back(Collect(sequences[i], std::move(rows[i]), config, dtype));
  }
  return results;
}

}  // namespace midscope

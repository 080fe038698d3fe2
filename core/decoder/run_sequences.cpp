// SPDX-License-Identifier: MIT
#include "core/decoder/run_sequences.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/decoder/mixer_step.h"
#include "core/plan/plan_changes.h"
#include "core/plan/run_positions.h"
#include "kernels/check.h"

namespace midscope {
namespace {

void CheckRequest(const RunRequest& request, const ModelConfig& config) {
  const auto rows = static_cast<int64_t>(request.ids.size());
  if (rows == 0) throw UsageError("prompt", "it has no tokens", "Give some text");
  if (rows > LongestRun(request.intervention, config)) {
    throw Failure(
        "prompt",
        "it has " + std::to_string(rows) + " tokens, " + ContextHolds(request.intervention, config),
        "Shorten it; nothing is cut off in silence");
  }
  const int64_t prompt_tokens = request.prompt_tokens > 0 ? request.prompt_tokens : rows;
  CheckPositionsHeld(request.intervention, config, prompt_tokens, rows);
  for (const int32_t id : request.ids) {
    if (id < 0 || id >= config.vocabulary) {
      throw Failure("prompt", "token id " + std::to_string(id) + " is outside the vocabulary of " +
                                  std::to_string(config.vocabulary));
    }
  }
  MIDSCOPE_CHECK_GE(request.prompt_tokens, 0);
  if (request.trace) MIDSCOPE_CHECK_GE(request.trace->capacity(), rows);
  if (request.rerun) {
    MIDSCOPE_CHECK_LE(request.prompt_tokens, rows);
    MIDSCOPE_CHECK(request.trace && request.trace->has_residual(),
                   "a re-run needs a trace with residual rows");
    MIDSCOPE_CHECK_EQ(request.trace->rows(), rows);
    MIDSCOPE_CHECK_EQ(request.rerun->first_row.size(), config.layers);
  }
  if (request.ratios) {
    MIDSCOPE_CHECK_EQ(request.ratios->values.size(), config.layers * config.heads);
  }
}

// Whether the first `rows` rows have the same positions in both plans. A trace's rows were computed
// with the frequencies, ids and ratios for its length. If those for the longer sequence differ
// (dynamic scaling of the model or as a scheme; longrope at its threshold), the rows are run again:
// rotating stored keys again would be wrong, because their inputs change too.
bool SamePositions(const std::vector<AttentionPlan>& before,
                   const std::vector<AttentionPlan>& after, int64_t rows) {
  const auto same = [rows](const AttentionPlan& a, const AttentionPlan& b) {
    const bool same_ratios =
        a.ratio_rule || b.ratio_rule || (a.q_ratio == b.q_ratio && a.k_ratio == b.k_ratio);
    return same_ratios && a.inverse_frequency == b.inverse_frequency &&
           a.magnitude == b.magnitude && a.scheme_rows == b.scheme_rows &&
           PositionIds::FirstDifference(a.position_ids, b.position_ids) >= rows;
  };
  return before.empty() ||
         std::equal(before.begin(), before.end(), after.begin(), after.end(), same);
}

bool ShowsEffectivePattern(const SequencePass& sequence, const ModelConfig& config) {
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (config.HasMixer(layer) && ShowsEffectivePattern(sequence, layer)) return true;
  }
  return false;
}

// Sets, for each layer, the first row that changes and the first row that is computed.
void SetRows(SequencePass& sequence, const ModelConfig& config) {
  if (sequence.request->rerun) {
    sequence.changed_row = sequence.request->rerun->first_row;
    for (int64_t& row : sequence.changed_row) row = std::min(row, sequence.rows);
  } else {
    sequence.changed_row.assign(static_cast<size_t>(config.layers), sequence.trace->rows());
  }
  if (config.Mixer().heads > 0 && ShowsEffectivePattern(sequence, config)) {
    if (!sequence.request->rerun) sequence.trace->Truncate(0);
    std::fill(sequence.changed_row.begin(), sequence.changed_row.end(), 0);
  }
  // Otherwise the trace would already hold every row.
  MIDSCOPE_CHECK_LT(sequence.changed_row.back(), sequence.rows);
  sequence.first_row =
      FirstRowsToRun(sequence.changed_row, sequence.trace->first_layer(), sequence.rows);
  if (config.HasMixers()) StartAtStates(config, sequence);
}

}  // namespace

SequencePass PrepareSequence(const RunRequest& request, int64_t index, const ModelConfig& config,
                             kernels::Dtype dtype, const std::vector<at::Device>& devices) {
  CheckRequest(request, config);
  SequencePass sequence;
  sequence.request = &request;
  sequence.index = index;
  sequence.rows = static_cast<int64_t>(request.ids.size());
  sequence.prompt_tokens = request.prompt_tokens > 0 ? request.prompt_tokens : sequence.rows;
  sequence.trace = request.trace;
  if (!sequence.trace) {
    sequence.scratch =
        AllocateTrace(config, dtype, sequence.rows, /*residual=*/false, config.layers, devices);
    sequence.trace = sequence.scratch.get();
  }
  sequence.plans =
      CompilePlans(request.intervention, config, sequence.prompt_tokens, sequence.rows);
  MIDSCOPE_CHECK(sequence.prompt_tokens <= sequence.rows || request.ratios ||
                     std::none_of(sequence.plans.begin(), sequence.plans.end(), DecidedByLastRow),
                 "the last prompt row decides ratios, so the prompt cannot be cut");
  MIDSCOPE_CHECK(
      sequence.prompt_tokens <= sequence.rows ||
          std::none_of(sequence.plans.begin(), sequence.plans.end(),
                       [](const AttentionPlan& plan) { return plan.residual.TakesMeans(); }),
      "means are taken over the whole prompt, so it cannot be cut");
  if (!request.rerun &&
      !SamePositions(sequence.trace->plans(), sequence.plans, sequence.trace->rows()))
    sequence.trace->Truncate(0);
  // Added last, so that other hooks read values that are already patched.
  std::vector<Hook*> hooks = request.hooks;
  sequence.patches = MakePatchHook(sequence.plans);
  if (sequence.patches) hooks.insert(hooks.begin(), sequence.patches.get());
  sequence.hooks = std::make_unique<HookTable>(
      hooks, config.layers, SequenceInfo{index, sequence.rows, sequence.prompt_tokens});
  SetRows(sequence, config);
  sequence.end_layer = config.layers;
  if (request.rerun && request.rerun->end_layer >= 0) {
    MIDSCOPE_CHECK_LE(request.rerun->end_layer, config.layers);
    sequence.end_layer = request.rerun->end_layer;
  }
  const bool scales =
      std::any_of(sequence.plans.begin(), sequence.plans.end(),
                  [](const AttentionPlan& plan) { return plan.row_override.has_value(); });
  MIDSCOPE_CHECK(!scales || sequence.first_row.back() == 0 || sequence.trace->has_residual(),
                 "channel scaling on top of a trace needs its residual rows");
  sequence.frozen_plans = sequence.trace->plans();
  return sequence;
}

namespace {

// Copies the ratios of layers that a re-run does not change from the trace's plans.
void KeepRatios(SequencePass& sequence) {
  for (size_t layer = 0; layer < sequence.plans.size(); ++layer) {
    if (sequence.Runs(static_cast<int64_t>(layer))) continue;
    sequence.plans[layer].q_ratio = sequence.frozen_plans[layer].q_ratio;
    sequence.plans[layer].k_ratio = sequence.frozen_plans[layer].k_ratio;
  }
}

// The results of a sequence's rows from first_reported_row on.
struct ReportedRows {
  std::vector<float> logits;        // [row, vocabulary]
  std::vector<TopToken> likeliest;  // [row, RunRequest::likeliest]
};

ReportedRows OfLogits(std::vector<float> logits, const RunRequest& request, int64_t vocabulary) {
  if (request.likeliest == 0) return {std::move(logits), {}};
  return {{}, TopTokensOfRows(logits, vocabulary, request.likeliest)};
}

// Returns the results of every sequence; empty if a sequence ends below the last layer.
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

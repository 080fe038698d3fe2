// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/run/scoring.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

// Computes, for each prompt row, the norm of the stream at the input of each layer and the norm of
// the update by attention.
class StreamNorms : public Hook {
 public:
  explicit StreamNorms(int64_t layers)
      : stream_(static_cast<size_t>(layers)), update_(static_cast<size_t>(layers)) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kResidPre && point.site != HookSite::kAttentionOut) return {};
    Of(point).resize(static_cast<size_t>(sequence.prompt_tokens));
    return {HookAccess::kRead, {0, sequence.prompt_tokens}};
  }

  void OnActivation(HookView& view) override {
    std::vector<double>& norms = Of(view.point);
    for (int64_t row = 0; row < view.rows(); ++row) {
      double squares = 0;
      for (int64_t i = 0; i < view.shape[2]; ++i) {
        const double value = view.At(0, row, i);
        squares += value * value;
      }
      norms[static_cast<size_t>(view.first_row + row)] = std::sqrt(squares);
    }
  }

  // Returns the mean over prompt rows of |a| / (|x| + |a|), [layer]; a: update by attention, x:
  // stream.
  std::vector<double> AttentionShares() const {
    std::vector<double> shares;
    for (size_t layer = 0; layer < stream_.size(); ++layer) {
      double sum = 0;
      for (size_t row = 0; row < stream_[layer].size(); ++row) {
        const double total = stream_[layer][row] + update_[layer][row];
        if (total > 0) sum += update_[layer][row] / total;
      }
      shares.push_back(sum / static_cast<double>(stream_[layer].size()));
    }
    return shares;
  }

 private:
  std::vector<double>& Of(const HookPoint& point) {
    auto& of_layers = point.site == HookSite::kResidPre ? stream_ : update_;
    return of_layers[static_cast<size_t>(point.layer)];
  }

  std::vector<std::vector<double>> stream_;  // [layer][row]
  std::vector<std::vector<double>> update_;
};

class RolloutProbe : public Probe {
 public:
  explicit RolloutProbe(const ProbeInput& input)
      : input_(input), config_(input.decoder.config()), norms_(config_.layers) {}

  std::vector<Hook*> Hooks() override { return {&norms_}; }

  Record Finish(const RunResult&) override {
    const std::vector<double> shares = norms_.AttentionShares();
    const auto keys = static_cast<size_t>(input_.prompt_tokens());
    std::vector<double> rollout = RollOut(shares, keys);
    Record record;
    record.name = "attention_rollout";
    record.axes = {CountedAxis("layer", config_.layers),
                   CountedAxis("key", static_cast<int64_t>(keys))};
    if (const PromptSpan* gold = input_.prompt.FindSpan("gold"))
      AddGold(*gold, rollout, keys, record);
    record.arrays.push_back({"attention_rollout",
                             {"layer", "key"},
                             std::move(rollout),
                             "",
                             "share of the last token's final stream that was at this token when "
                             "the layer was entered"});
    record.arrays.push_back({"attention_share",
                             {"layer"},
                             shares,
                             "",
                             "share of the attention's update in the stream, |a| / (|x| + |a|), "
                             "mean over the prompt"});
    record.signal = "attention_rollout";
    return record;
  }

 private:
  // Returns the rollout, [layer, key]. From the last layer down, runs each layer alone on a trace
  // to get the attention patterns of all rows, a few rows at a time.
  std::vector<double> RollOut(const std::vector<double>& shares, size_t keys) {
    const std::vector<int32_t> ids = IdsToScore(input_.prompt.ids, input_.prompt.answer_ids);
    const auto rows = static_cast<int64_t>(ids.size());
    const auto trace = input_.decoder.MakeTrace(rows);
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = input_.prompt_tokens();
    request.intervention = input_.intervention;
    request.trace = trace.get();
    Run(request);
    std::vector<double> rollout(keys * shares.size());
    std::vector<double> row(keys);
    row.back() = 1;
    for (int64_t layer = config_.layers - 1; layer >= 0; --layer) {
      const double share = shares[static_cast<size_t>(layer)];
      std::vector<double> below(keys);
      for (size_t key = 0; key < keys; ++key) below[key] = (1 - share) * row[key];
      PatternRange patterns({0, input_.prompt_tokens()}, layer,
                            [&](auto, auto, int64_t query, std::span<const float> weights) {
                              const double flow = share / static_cast<double>(config_.heads) *
                                                  row[static_cast<size_t>(query)];
                              if (flow == 0) return;
                              for (size_t key = 0; key < weights.size(); ++key)
                                below[key] += flow * weights[key];
                            });
      request.hooks = {&patterns};
      RunRequest::Rerun rerun;
      rerun.first_row.assign(shares.size(), 0);
      std::fill_n(rerun.first_row.begin(), layer, rows);
      rerun.end_layer = layer + 1;
      request.rerun = std::move(rerun);
      Run(request);
      row = std::move(below);
      std::copy(row.begin(), row.end(), rollout.begin() + layer * static_cast<int64_t>(keys));
    }
    return rollout;
  }

  void Run(const RunRequest& request) const {
    input_.decoder.RunOne(request, input_.context ? *input_.context : JobContext{});
  }

  void AddGold(const PromptSpan& gold, const std::vector<double>& rollout, size_t keys,
               Record& record) const {
    std::vector<double> on_gold;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      const auto row = rollout.begin() + layer * static_cast<int64_t>(keys);
      on_gold.push_back(std::accumulate(row + gold.token_begin, row + gold.token_end, 0.0));
    }
    record.arrays.push_back({"gold_rollout",
                             {"layer"},
                             std::move(on_gold),
                             "",
                             "attention_rollout summed over the gold passage"});
    record.attributes["gold_token_begin"] = gold.token_begin;
    record.attributes["gold_token_end"] = gold.token_end;
  }

  const ProbeInput input_;
  const ModelConfig& config_;
  StreamNorms norms_;
};

}  // namespace

Record AttentionRolloutByPlace(const Record& stacked) {
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  Record record;
  record.name = "attention_rollout_by_place";
  record.axes = {AxisOf(stacked, "place"), AxisOf(stacked, "layer")};
  record.arrays = {{"mean_gold_rollout",
                    {"place", "layer"},
                    MeanOverSamples(ArrayValues<double>(stacked, "gold_rollout"), samples),
                    "",
                    "share of the last token's stream that was in the gold when the layer was "
                    "entered, by place, mean over samples"}};
  record.signal = "mean_gold_rollout";
  return record;
}

ProbeType AttentionRolloutProbe() {
  ProbeType type;
  type.name = "attention_rollout";
  type.summary =
      "how much of the last token's stream goes back to each token, layer by layer: attention of "
      "all heads, with the residual's measured share";
  type.source =
      "Abnar and Zuidema, arXiv 2005.00928; with measured residual shares arXiv 2602.16837 (its "
      "code: src/metrics/metrics.py, src/rollout/main.py); position bias: arXiv 2502.01951";
  type.departures =
      "the public codes multiply whole matrices of all rows; here the last row is sent down "
      "through the transposed patterns, so that memory is linear in the prompt. MLPs move nothing "
      "between tokens and are left out, as there";
  type.limits =
      "heads count equally, whatever they write; ablated heads still count. Works for every "
      "family, ALiBi and sliding windows included; under infini the memory's part is not in any "
      "token";
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<RolloutProbe>(input); };
  type.summarise = [](const Record& stacked) -> std::vector<Record> {
    if (!stacked.FindArray("gold_rollout")) return {};
    return {AttentionRolloutByPlace(stacked)};
  };
  return type;
}

}  // namespace midscope

// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/chosen_prompt_rows.h"

namespace midscope {
namespace {

constexpr const char* kAttentionAt = "attention-at";
constexpr int64_t kMostBytes = int64_t{1} << 30;

void CheckSize(int64_t rows, int64_t keys, const ModelConfig& config) {
  const int64_t row_bytes =
      config.layers * config.heads * keys * static_cast<int64_t>(sizeof(float));
  if (rows * row_bytes <= kMostBytes) return;
  throw UsageError(std::string("option --") + kAttentionAt,
                   fmt::format("{} rows of {} keys in every head take more than 1 GiB", rows, keys),
                   fmt::format("Name {} or fewer", kMostBytes / row_bytes));
}

RowRange RangeOf(const std::vector<int64_t>& rows) {
  if (!rows.empty()) return {rows.front(), rows.back() + 1};
  throw UsageError(std::string("option --") + kAttentionAt,
                   "the passage does not contain a whole token",
                   std::string("Give ") + kPromptRowsText);
}

class AttentionRowsCapture : public Probe {
 public:
  explicit AttentionRowsCapture(const ProbeInput& input)
      : config_(input.decoder.config()),
        keys_(input.prompt_tokens()),
        rows_(ChosenPromptRows(input.prompt, input.options.Text(kAttentionAt), kAttentionAt)),
        patterns_(RangeOf(rows_), -1,
                  [this](int64_t layer, int64_t head, int64_t row, std::span<const float> weights) {
                    Keep(layer, head, row, weights);
                  }) {
    CheckSize(std::ssize(rows_), keys_, config_);
    weights_.resize(static_cast<size_t>(config_.layers * config_.heads * keys_) * rows_.size());
  }

  std::vector<Hook*> Hooks() override { return {&patterns_}; }

  Record Finish(const RunResult&) override {
    Record record;
    record.name = "attention_rows";
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads),
                   ValuedAxis("row", rows_), CountedAxis("key", keys_)};
    record.arrays = {{"row_attention",
                      {"layer", "head", "row", "key"},
                      std::move(weights_),
                      "",
                      "attention of the prompt's chosen tokens, 0 for keys behind them"}};
    record.signal = "row_attention";
    return record;
  }

 private:
  void Keep(int64_t layer, int64_t head, int64_t row, std::span<const float> weights) {
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), row);
    if (found == rows_.end() || *found != row) return;
    const int64_t index = (layer * config_.heads + head) * std::ssize(rows_) +
                          static_cast<int64_t>(found - rows_.begin());
    std::copy(weights.begin(), weights.end(), weights_.begin() + index * keys_);
  }

  const ModelConfig& config_;
  int64_t keys_;
  std::vector<int64_t> rows_;
  std::vector<float> weights_;
  PatternRange patterns_;
};

}  // namespace

ProbeType AttentionRowsProbe() {
  ProbeType type;
  type.name = "attention_rows";
  type.summary = "attention of chosen prompt rows, in every head";
  type.limits = "All rows between the first and the last chosen one are computed.";
  type.options = {TextParameter(
      kAttentionAt, std::string("prompt rows whose attention to keep: ") + kPromptRowsText)};
  type.wanted = [](const OptionSet& options) { return !options.Text(kAttentionAt).empty(); };
  type.make = [](const ProbeInput& input) { return std::make_unique<AttentionRowsCapture>(input); };
  return type;
}

}  // namespace midscope

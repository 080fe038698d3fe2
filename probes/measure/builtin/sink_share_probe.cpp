// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/parameter.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class SinkProbe : public Probe {
 public:
  explicit SinkProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        epsilon_(input.options.Number("sink-epsilon")),
        rows_(input.options.Text("sink-rows")),
        first_row_(rows_ == "all" ? 0 : input.prompt_tokens() - 1),
        prompt_tokens_(input.prompt_tokens()),
        keys_(std::min(input.options.Integer("sink-keys"), prompt_tokens_)),
        sums_(static_cast<size_t>(config_.layers * config_.heads * keys_)),
        patterns_({first_row_, prompt_tokens_}, -1, [this](auto layer, auto head, auto, auto row) {
          double* sums = sums_.data() + (layer * config_.heads + head) * keys_;
          const auto seen = std::min<int64_t>(keys_, static_cast<int64_t>(row.size()));
          for (int64_t key = 0; key < seen; ++key) sums[key] += row[static_cast<size_t>(key)];
        }) {}

  std::vector<Hook*> Hooks() override { return {&patterns_}; }

  Record Finish(const RunResult&) override {
    const auto keys = static_cast<size_t>(keys_);
    std::vector<double> share(static_cast<size_t>(config_.layers) * keys);
    std::vector<double> of_all(keys);
    for (size_t i = 0; i < sums_.size(); ++i) {
      const auto key = static_cast<int64_t>(i % keys);
      sums_[i] /= static_cast<double>(prompt_tokens_ - std::max(first_row_, key));
      if (sums_[i] <= epsilon_) continue;
      const size_t layer = i / keys / static_cast<size_t>(config_.heads);
      share[layer * keys + i % keys] += 1 / static_cast<double>(config_.heads);
      of_all[i % keys] += 1 / static_cast<double>(config_.heads * config_.layers);
    }
    Record record;
    record.name = "sink_share";
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads),
                   CountedAxis("key", keys_)};
    record.arrays = {{"sink_weight",
                      {"layer", "head", "key"},
                      std::move(sums_),
                      "",
                      rows_ == "all" ? "attention on the token, mean over the rows that see it"
                                     : "attention of the last prompt token on the token"},
                     {"sink_share",
                      {"layer", "key"},
                      std::move(share),
                      "",
                      "share of the layer's heads whose weight is above sink_epsilon"},
                     {"sink_share_of_all",
                      {"key"},
                      std::move(of_all),
                      "",
                      "the same of all heads (Sink of arXiv 2410.10781)"}};
    record.attributes = {{"sink_epsilon", epsilon_}, {"sink_rows", rows_}};
    record.signal = "sink_share";
    return record;
  }

 private:
  const ModelConfig& config_;
  double epsilon_;
  std::string rows_;
  int64_t first_row_;
  int64_t prompt_tokens_;
  int64_t keys_;
  std::vector<double> sums_;  // [layer, head, key]
  PatternRange patterns_;
};

}  // namespace

ProbeType SinkShareProbe() {
  ProbeType type;
  type.name = "sink_share";
  type.summary = "how many heads put more than a share of their weight on the first tokens";
  type.source =
      "Gu et al., 'When attention sink emerges', arXiv 2410.10781: the metric Sink_k, with its "
      "epsilon of 0.3";
  type.departures =
      "the paper averages every row from the key on; unasked it is the last prompt row alone, "
      "which costs nothing (--sink-rows all: the paper's)";
  type.limits =
      "heads are query heads (GQA). Layers with a sliding window do not see the first tokens of a "
      "long prompt. All rows take time that grows with the square of the prompt, memory does not";
  type.options = {
      NumberParameter("sink-epsilon", "weight above which sink_share counts a head", 0, 1, 0.3),
      WholeNumberParameter("sink-keys", "how many first tokens sink_share looks at", 1, kNoMaximum,
                           1),
      ChoiceParameter("sink-rows", "the rows whose weights sink_share averages", {"last", "all"})};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<SinkProbe>(input); };
  return type;
}

}  // namespace midscope
